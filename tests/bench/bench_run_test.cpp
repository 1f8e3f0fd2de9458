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
  const BenchOutcome outcome = run_bench(arguments + " --json --dir " + folder.path());
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
      // A library that isn't part of this build; nothing else may be missing.
      CHECK(problem.starts_with("not built in"));
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
        "scan 10 MB log, all fields checked: verify()", "scan 10 MB log: statistics()",
        "scan 10 MB of all types: verify()", "lock: most / least turns of eight processes",
        "lock: time-out of 200 ms, how late", "CPU: parse, check and complete an entry",
        "CPU: read an RFC 3339 time"}},
      {"search --bytes 300K --effort 0.001",
       400,
       {"warm query, whole form, p95", "longest of 1,000 appends to a full session, CPU",
        "warm query while another process appends, p50"}},
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

TEST_CASE("wrong usage is told from failure") {
  CHECK(run_bench("--help").status == 0);
  for (const std::string command : {"store", "search", "redact"}) {
    CAPTURE(command);
    CHECK(run_bench(command + " --help").output.contains("groups of rows"));
    CHECK(run_bench(command + " --no-such-option").status == 2);
    CHECK(run_bench(command + " --filter nothing-is-called-this").status == 1);
    CHECK(run_bench(command + " --dir /nowhere/at/all").status == 1);
  }
  CHECK(run_bench("corpus").status == 1);
}

TEST_CASE("a corpus says what to ask of it, and is made once") {
  const TemporaryDirectory folder;
  const std::string command = "corpus --bytes 50K --alone --out " + folder.path("corpus");
  for (int time = 0; time < 2; ++time) {
    const BenchOutcome outcome = run_bench(command);
    CHECK(outcome.status == 0);
    JsonParser parser;
    const Result<JsonValue> said = parser.parse(json_in(outcome.output));
    REQUIRE_MESSAGE(said, outcome.output);
    CHECK((*said)["entries"].integer() > 50);
    CHECK_FALSE((*(*said)["queries"].elements().begin()).string().empty());
  }
  CHECK(std::filesystem::exists(folder.path("corpus/memory/config.json")));
  CHECK(run_bench(command + " --seed 2").status == 1);
}
