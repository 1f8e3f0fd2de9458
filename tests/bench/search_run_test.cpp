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
#endif
  CHECK((*report)["entries"].integer() > 400);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("wrong usage of search is told from failure") {
  CHECK(run_bench("search --help").output.find("groups of rows") != std::string::npos);
  CHECK(run_bench("search --filter nothing-is-called-this").status == 1);
  CHECK(run_bench("search --dir /nowhere/at/all").status == 1);
  CHECK(run_bench("search --no-such-option").status == 2);
}
