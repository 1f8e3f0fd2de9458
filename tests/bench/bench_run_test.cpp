// bench_run_test.cpp - bmad-bench as a person starts it, in small.
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"
#include "support/temporary_directory.hpp"

using namespace bmad_mem;
using namespace bmad_mem::test;

namespace {

struct BenchOutcome {
  int status = -1;     ///< Exit status; -1 when it was killed.
  std::string output;  ///< Standard output and standard error.
};

/// Runs it with `arguments`, for the shell.
BenchOutcome run_bench(const std::string& arguments) {
  const std::string command = std::string(BMAD_BENCH_BINARY) + ' ' + arguments + " 2>&1";
  BenchOutcome outcome;
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  for (std::size_t size = 0; (size = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    outcome.output.append(buffer, size);
  }
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

/// The JSON object in an output that shows progress before it; empty when there is none.
std::string json_in(const std::string& output) {
  const std::size_t object = output.find("\n{");
  return object == std::string::npos ? "" : output.substr(object + 1);
}

/// Runs a command with --json in a folder of its own, and returns the names of what was measured.
std::set<std::string> measured_by(const std::string& arguments, std::int64_t entries = 0) {
  const TemporaryDirectory folder;
  const BenchOutcome outcome =
      run_bench(arguments + " --json --tool " BMAD_MEM_BINARY " --dir " + folder.path());
  JsonParser parser;
  const Result<JsonValue> report = parser.parse(json_in(outcome.output));
  REQUIRE_MESSAGE(report, outcome.output);
  CHECK((*report)["environment"]["cpu"].is_string());
  CHECK((*report)["entries"].integer() >= entries);
  std::set<std::string> measured;
  for (const JsonValue row : (*report)["rows"].elements()) {
    const std::string what(row["what"].string());
    const std::string problem(row["problem"].string());
    CAPTURE(what);
    CAPTURE(problem);
    if (row["problem"].present()) {
      // A library that isn't part of this build, or tar; nothing else may be missing.
      CHECK((problem.starts_with("not built in") || problem.contains("/tar")));
      continue;
    }
    CHECK(row["ours"]["count"].integer() >= 1);
    measured.insert(what);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  return measured;
}

}  // namespace

TEST_CASE("each command measures every row in small and leaves nothing behind") {
  struct Case {
    const char* arguments;
    std::int64_t entries;
    std::vector<const char*> rows;
  };
  static const Case kCases[] = {
      {"store --effort 0.001",
       0,
       {"durable append, 300 bytes, one writer", "CPU of that append above raw",
        "eight processes appending to one session", "eight threads appending to one session",
        "the limit: eight processes, raw appends", "batches of 100 entries, durable",
        "`bmad-mem add`, above empty process and raw append",
        "peak resident memory of that `bmad-mem add`",
        "scan 10 MB log, all fields checked: verify()", "scan 10 MB log: statistics()",
        "scan 10 MB of all types: verify()", "lock: most / least turns of eight processes",
        "lock: time-out of 200 ms, how late", "CPU: parse, check and complete an entry",
        "CPU: read an RFC 3339 time"}},
      {"search --bytes 300K --effort 0.001",
       400,
       {"warm query, whole form, p95", "longest of 1,000 appends to a full session, CPU",
        "warm query while another process appends, p50", "10mb: query, one append later",
        "10mb: query", "10mb: MCP memory_search, p95", "10mb: index/ against the logs"}},
      {"lifecycle --bytes 300K --effort 0.01",
       400,
       {"compact a full session", "compact: the index, nothing locked",
        "a reader's slowest query during a compaction",
        "a writer's slowest append during a compaction", "delete 100 ids from it",
        "`bmad-mem maintain --auto`, nothing due, 20 sessions"}},
      {"redact --effort 0.001",
       0,
       {"messages of the corpus, all rules", "one text of 400 bytes", "twice as much of aaaa"}},
  };
  for (const Case& each : kCases) {
    SUBCASE(each.arguments) {
      const std::set<std::string> measured = measured_by(each.arguments, each.entries);
      for (const char* row : each.rows) {
        CAPTURE(row);
        CHECK(measured.contains(row));
      }
    }
  }
}

TEST_CASE("memories are asked as they were left, kept, and asked again") {
  const TemporaryDirectory folder;
  const std::string command =
      "search --filter left --shape 10k --shape 100k-20 --shape 1m --json --bytes 300K --effort "
      "0.001 --alone "
      "--tool " BMAD_MEM_BINARY " --keep " +
      folder.path() + "/kept --dir " + folder.path();
  for (int time = 0; time < 2; ++time) {
    const BenchOutcome outcome = run_bench(command);
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    for (const char* what :
         {"10k: the first question", "1m: get ID, peak resident memory", "1m: list",
          "100k-20: context of nothing", "100k-20: `hook` with PostToolUse",
          "1m: prompt hook with context", "1m: MCP memory_get, p95", "1m: index/ against the logs",
          "growth from 10k to 1m: context"}) {
      CHECK(outcome.output.contains(what));
    }
  }
  CHECK(std::filesystem::exists(folder.path() + "/kept/1m/complete"));
}

TEST_CASE("a tool that is not there is a row that says so, and a failure") {
  const TemporaryDirectory folder;
  const BenchOutcome outcome =
      run_bench("store --filter process --effort 0.001 --tool /nowhere --dir " + folder.path());
  CHECK(outcome.status == 1);
  CHECK(outcome.output.contains("not measured"));
  CHECK(outcome.output.contains("there is no program \"/nowhere\""));
}

#ifdef BMAD_BENCH_HUB
TEST_CASE("a hub is measured beside COPY, or its row says why not") {
  const TemporaryDirectory folder;
  const BenchOutcome outcome = run_bench("hub --filter push --effort 0.001 --dir " + folder.path());
  CAPTURE(outcome.output);
  CHECK(outcome.output.contains(outcome.status == 0 ? "COPY of 500 lines" : "there is no initdb"));
}
#endif

TEST_CASE("wrong usage is told from failure") {
  CHECK(run_bench("--help").status == 0);
  for (const std::string command : {"store", "search", "lifecycle"}) {
    CAPTURE(command);
    CHECK(run_bench(command + " --help").output.contains("groups of rows"));
    CHECK(run_bench(command + " --no-such-option").status == 2);
    CHECK(run_bench(command + " --filter nothing-is-called-this").status == 1);
    CHECK(run_bench(command + " --dir /nowhere/at/all").status == 1);
  }
  CHECK(run_bench("search --shape none-of-them").status == 2);
  CHECK(run_bench("corpus").status == 1);
}

TEST_CASE("a corpus is not added to what is there") {
  const TemporaryDirectory folder;
  const std::string out = folder.path("memory");
  const BenchOutcome first = run_bench("corpus --bytes 50K --out " + out);
  CHECK(first.status == 0);
  CHECK(first.output.contains("FNV-1a"));
  CHECK_FALSE(first.output.contains("\"root\""));
  CHECK(run_bench("corpus --bytes 50K --out " + out).status == 1);
}
