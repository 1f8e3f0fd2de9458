// bench_run_test.cpp - bmad-bench as a person starts it, in small.
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
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
      {"context --effort 0.01",
       500,
       {"cold `bmad-mem context` of a task", "cold `bmad-mem context` of nothing"}},
      {"hooks --effort 0.01",
       500,
       {"record: `hook` with PostToolUse", "prompt: `hook` with UserPromptSubmit"}},
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
      "search --filter left --shape 10k --shape 1m --json --bytes 300K --effort 0.001 --alone "
      "--tool " BMAD_MEM_BINARY " --keep " +
      folder.path() + "/kept --dir " + folder.path();
  for (int time = 0; time < 2; ++time) {
    const BenchOutcome outcome = run_bench(command);
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    for (const char* what : {"10k: the first question", "1m: get ID, peak resident memory",
                             "1m: list", "1m: prompt hook with context", "1m: MCP memory_get, p95",
                             "1m: index/ against the logs", "growth from 10k to 1m: context"}) {
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

namespace {

/// One message a day of a month, in two sessions, each with a word of its own.
std::string talk() {
  std::string lines;
  for (int i = 1; i <= 30; ++i) {
    const std::string number = std::to_string(i);
    JsonWriter json;
    json.begin_object().member("store", "talk").member("id", "turn " + number).member("seq", i);
    json.member("ts", "2024-03-" + std::string(i < 10 ? "0" : "") + number + "T10:00:00");
    json.member("speaker", i % 2 == 0 ? "Ann" : "Bob").member("session", i <= 15 ? "A" : "B");
    json.member("text", "We talked about topic" + std::string(1, static_cast<char>('a' + i % 26)) +
                            " and the weather, number zebra" + number + ".");
    json.end_object();
    lines += json.take() + '\n';
  }
  return lines;
}

std::string documents() {
  return R"({"store":"docs","id":"d1","text":"Merge postings with a heap","session":""})"
         "\n"
         R"({"store":"docs","id":"d2","text":"Fix a leak in the tokenizer","session":""})"
         "\n";
}

std::string questions() {
  return R"({"store":"talk","id":"q1","text":"Who said zebra7?","category":"x","relevant":["turn 7"]})"
         "\n"
         R"({"store":"talk","id":"q2","text":"zebra21 or zebra22","relevant":["turn 21","turn 22"]})"
         "\n"
         R"({"store":"docs","id":"q3","text":"a leak","category":"x","relevant":["d2"]})"
         "\n"
         R"({"store":"docs","id":"q4","text":"heap","relevant":[]})"
         "\n";
}

/// The data above in a folder, and where the run file goes.
struct Retrieval {
  Retrieval() {
    folder.write("corpus.jsonl", talk() + documents());
    folder.write("queries.jsonl", questions());
    folder.make_folder("temporary");
  }
  BenchOutcome run(const std::string& more) const {
    return run_bench("retrieval --data " + folder.path() + " --dir " + folder.path("temporary") +
                     ' ' + more);
  }
  /// The lines of the run file, cut at their tabs.
  std::vector<std::vector<std::string>> ranking() const {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(folder.read("run.tsv"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream cells(line);
      std::vector<std::string>& row = rows.emplace_back();
      for (std::string cell; std::getline(cells, cell, '\t');) {
        row.push_back(cell);
      }
    }
    return rows;
  }

  TemporaryDirectory folder;
};

}  // namespace

TEST_CASE("a run file holds the ids of the data, best first") {
  const Retrieval retrieval;
  const BenchOutcome outcome = retrieval.run("--run " + retrieval.folder.path("run.tsv"));
  CAPTURE(outcome.output);
  REQUIRE(outcome.status == 0);
  std::map<std::string, std::string> first;
  std::map<std::string, double> last_score;
  std::set<std::string> pairs;
  for (const std::vector<std::string>& row : retrieval.ranking()) {
    REQUIRE(row.size() == 3);
    first.try_emplace(row[0], row[1]);
    CHECK(pairs.insert(row[0] + ' ' + row[1]).second);
    const double score = std::stod(row[2]);
    if (last_score.contains(row[0])) {
      CHECK(score <= last_score[row[0]]);
    }
    last_score[row[0]] = score;
  }
  CHECK(first["q1"] == "turn 7");
  CHECK((first["q2"] == "turn 21" || first["q2"] == "turn 22"));
  CHECK(first["q3"] == "d2");
  CHECK(first["q4"] == "d1");
  CHECK(outcome.output.find("30 messages as conversation entries in 2 sessions") !=
        std::string::npos);
  CHECK(outcome.output.find("2 messages as documents in 1 sessions") != std::string::npos);
  CHECK(outcome.output.find("1 questions name nothing relevant") != std::string::npos);
}

TEST_CASE("scores are reported by store, by category and over all") {
  const Retrieval retrieval;
  const BenchOutcome outcome = retrieval.run("--json");
  JsonParser parser;
  const Result<JsonValue> report = parser.parse(json_in(outcome.output));
  REQUIRE_MESSAGE(report, outcome.output);
  std::set<std::string> names;
  for (const JsonValue group : (*report)["groups"].elements()) {
    names.insert(std::string(group["kind"].string()) + ':' + std::string(group["name"].string()));
    for (const char* way : {"default", "week", "month", "text", "slip", "plain"}) {
      CAPTURE(way);
      CHECK(group[way]["recall_at_10"].number() == doctest::Approx(1));
      CHECK(group[way]["refused"].integer(-1) == 0);
      CHECK(group[way]["empty"].integer(-1) == 0);
    }
    CHECK(group["recall_at_10_above_text_points"].number(-1) == doctest::Approx(0));
    CHECK(group["recall_at_10_above_plain_points"].number(-1) == doctest::Approx(0));
  }
  CHECK(names.contains("store:talk"));
  CHECK(names.contains("store:docs"));
  CHECK(names.contains("category:x"));
  CHECK(names.contains("kind:conversations"));
  CHECK(names.contains("kind:documents"));
  CHECK(names.contains("all:"));
  // The talk ends on March 30: turn 7 is of March 7, turns 21 and 22 are 9 and 8 days old.
  CHECK(names.contains("age:conversations, 7 to 30 days"));
  CHECK_FALSE(names.contains("age:conversations, up to 7 days"));
  CHECK_FALSE(names.contains("age:documents, up to 7 days"));
  CHECK((*report)["times_ms"]["default"]["p50"].number() > 0);
  CHECK((*report)["unjudged"].integer() == 1);
}

TEST_CASE("a store and a ranking can be chosen") {
  const Retrieval retrieval;
  const BenchOutcome outcome = retrieval.run("--store docs --ranking plain");
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("plain BM25") != std::string::npos);
  CHECK(outcome.output.find("| default ") == std::string::npos);
  CHECK(outcome.output.find("talk") == std::string::npos);
  CHECK(retrieval.run("--store nowhere").status == 1);
  CHECK(retrieval.run("--ranking best").status == 2);
}

TEST_CASE("a question is asked as it stands, at a live clock, and with a slip") {
  const Retrieval retrieval;
  // Three days before the end, with a word that another message of half a year ago shares.
  retrieval.folder.write(
      "corpus.jsonl",
      R"({"store":"talk","id":"old","ts":"2024-01-01T10:00:00","speaker":"Ann","session":"A","text":"The harbour bell is bronze."})"
      "\n"
      R"({"store":"talk","id":"new","ts":"2024-03-28T10:00:00","speaker":"Bob","session":"B","text":"Bells are loud."})"
      "\n"
      R"({"store":"talk","id":"last","ts":"2024-03-30T10:00:00","speaker":"Bob","session":"B","text":"Good night."})"
      "\n");
  retrieval.folder.write(
      "queries.jsonl",
      R"({"store":"talk","id":"q1","text":"which bell is bronze?","relevant":["old"]})"
      "\n"
      R"({"store":"talk","id":"q2","text":"bronze","relevant":["old"]})"
      "\n"
      R"({"store":"talk","id":"q3","text":"\"a lost title\" xyzzy","relevant":["new"]})"
      "\n");
  const BenchOutcome outcome = retrieval.run("--json");
  JsonParser parser;
  const Result<JsonValue> report = parser.parse(json_in(outcome.output));
  REQUIRE_MESSAGE(report, outcome.output);
  std::map<std::string, JsonValue> groups;
  for (const JsonValue group : (*report)["groups"].elements()) {
    groups.emplace(std::string(group["kind"].string()) + ':' + std::string(group["name"].string()),
                   group);
  }
  const JsonValue all = groups.at("all:");
  CHECK(groups.at("age:conversations, beyond 30 days")["questions"].integer() == 2);
  CHECK(groups.at("age:conversations, beyond 30 days")["default"]["recall_at_1"].number() ==
        doctest::Approx(1));
  CHECK(groups.at("age:conversations, up to 7 days")["questions"].integer() == 1);
  CHECK(all["default"]["refused"].integer(-1) == 0);
  CHECK(all["default"]["empty"].integer(-1) == 1);
  CHECK(all["slip"]["empty"].integer(-1) >= 1);
}

TEST_CASE("a folder that is not there is skipped, a bad line is not") {
  const BenchOutcome skipped = run_bench("retrieval --data /nowhere/at/all");
  CHECK(skipped.status == 0);
  CHECK(skipped.output.find("skipped: there is no folder /nowhere/at/all") != std::string::npos);
  const Retrieval retrieval;
  retrieval.folder.write("queries.jsonl", questions() + "nonsense\n");
  const BenchOutcome bad = retrieval.run("");
  CHECK(bad.status == 1);
  CHECK(bad.output.find("queries.jsonl:5") != std::string::npos);
}
