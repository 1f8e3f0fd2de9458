#include <filesystem>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"
#include "run_bench.hpp"
#include "support/temporary_directory.hpp"

using namespace bmad_mem;
using namespace bmad_mem::test;

TEST_CASE("a tiny benchmark of the life cycle measures every group and leaves nothing behind") {
  const TemporaryDirectory folder;
  const BenchOutcome outcome = run_bench("lifecycle --json --bytes 300K --effort 0.01 --dir " +
                                         folder.path() + tool_option());
  JsonParser parser;
  const Result<JsonValue> report = parser.parse(json_in(outcome.output));
  REQUIRE_MESSAGE(report, outcome.output);
  std::set<std::string> measured;
  for (const JsonValue row : (*report)["rows"].elements()) {
    const std::string what(row["what"].string());
    const std::string problem(row["problem"].string());
    CAPTURE(what);
    CAPTURE(problem);
    if (row["problem"].present()) {
      // The tool isn't part of every build, nor is tar on every machine.
      CHECK((problem.starts_with("there is no program") || problem.find("/tar") != problem.npos));
      continue;
    }
    CHECK(row["ours"]["count"].integer() >= 1);
    measured.insert(what);
  }
  CHECK(measured.contains("compact a full session"));
  CHECK(measured.contains("compact: the index, nothing locked"));
  CHECK(measured.contains("a reader's slowest query during a compaction"));
  CHECK(measured.contains("a writer's slowest append during a compaction"));
  CHECK(measured.contains("delete 100 ids from it"));
#ifdef BMAD_MEM_BINARY
  CHECK(measured.contains("`bmad-mem maintain --auto`, nothing due, 20 sessions"));
#endif
  CHECK((*report)["entries"].integer() > 400);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("wrong usage of lifecycle is told from failure") {
  CHECK(run_bench("lifecycle --help").output.find("groups of rows") != std::string::npos);
  CHECK(run_bench("lifecycle --filter nothing-is-called-this").status == 1);
  CHECK(run_bench("lifecycle --dir /nowhere/at/all").status == 1);
  CHECK(run_bench("lifecycle --no-such-option").status == 2);
}
