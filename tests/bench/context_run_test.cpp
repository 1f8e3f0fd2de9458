// context_run_test.cpp - `bmad-bench context` as a whole, in small.
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"
#include "run_bench.hpp"

using namespace bmad_mem;
using namespace bmad_mem::test;

TEST_CASE("a tiny benchmark of the context measures every row") {
  const BenchOutcome outcome = run_bench("context --json --effort 0.01");
  JsonParser parser;
  const Result<JsonValue> report = parser.parse(json_in(outcome.output));
  REQUIRE_MESSAGE(report, outcome.output);
  std::set<std::string> measured;
  for (const JsonValue row : (*report)["rows"].elements()) {
    CHECK(row["ours"]["count"].integer() >= 3);
    measured.insert(std::string(row["what"].string()));
  }
  CHECK(measured.contains("cold `bmad-mem context` of a task"));
  CHECK(measured.contains("cold `bmad-mem context` of nothing"));
  CHECK((*report)["entries"].integer() >= 500);
}
