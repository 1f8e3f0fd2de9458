#include <filesystem>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"
#include "run_bench.hpp"
#include "support/temporary_directory.hpp"

using namespace bmad_mem;
using namespace bmad_mem::test;

TEST_CASE("a tiny search benchmark measures every group and leaves nothing behind") {
  const TemporaryDirectory folder;
  const BenchOutcome outcome =
      run_bench("search --json --bytes 300K --effort 0.001 --dir " + folder.path() + tool_option());
  JsonParser parser;
  const Result<JsonValue> report = parser.parse(json_in(outcome.output));
  REQUIRE_MESSAGE(report, outcome.output);
  std::set<std::string> measured;
  for (const JsonValue row : (*report)["rows"].elements()) {
    CAPTURE(row["what"].string());
    if (row["problem"].present()) {
      // A library or the tool that isn't part of this build; nothing else may be missing.
      const std::string problem(row["problem"].string());
      CAPTURE(problem);
      CHECK((problem.starts_with("not built in") || problem.starts_with("there is no program")));
      continue;
    }
    CHECK(row["ours"]["count"].integer() >= 1);
    CHECK(row["ours"]["median"].number() >= 0);
    measured.insert(std::string(row["what"].string()));
  }
  CHECK(measured.contains("warm query, whole form, p95"));
  CHECK(measured.contains("rebuild-index, CPU"));
  CHECK(measured.contains("index/ against the logs"));
  CHECK(measured.contains("longest of 1,000 appends to a full session, CPU"));
#ifdef BMAD_MEM_BINARY
  CHECK(measured.contains("cold `bmad-mem query`"));
  CHECK(measured.contains("cold query, index missing"));
  CHECK(measured.contains("10mb: query, one append later"));
  CHECK(measured.contains("10mb: MCP memory_search, p95"));
#endif
  CHECK((*report)["entries"].integer() > 400);
  CHECK(std::filesystem::is_empty(folder.path()));
}

#ifdef BMAD_MEM_BINARY
TEST_CASE("memories are asked as they were left, kept, and asked again") {
  const TemporaryDirectory folder;
  const std::string command =
      "search --filter left --shape 10k --shape 1m --json --bytes 300K --effort 0.001 --alone "
      "--keep " +
      folder.path() + "/kept --dir " + folder.path() + tool_option();
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
#endif

TEST_CASE("wrong usage of search is told from failure") {
  CHECK(run_bench("search --help").output.find("groups of rows") != std::string::npos);
  CHECK(run_bench("search --filter nothing-is-called-this").status == 1);
  CHECK(run_bench("search --dir /nowhere/at/all").status == 1);
  CHECK(run_bench("search --no-such-option").status == 2);
  CHECK(run_bench("search --shape none-of-them").status == 2);
}
