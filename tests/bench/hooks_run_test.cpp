// hooks_run_test.cpp - `bmad-bench hooks` as a whole, in small.
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"
#include "run_bench.hpp"

using namespace bmad_mem;
using namespace bmad_mem::test;

TEST_CASE("a tiny benchmark of the hooks measures every row") {
  const BenchOutcome outcome = run_bench("hooks --json --effort 0.01");
  JsonParser parser;
  const Result<JsonValue> report = parser.parse(json_in(outcome.output));
  REQUIRE_MESSAGE(report, outcome.output);
  std::set<std::string> measured;
  for (const JsonValue row : (*report)["rows"].elements()) {
    CHECK(row["ours"]["count"].integer() >= 3);
    measured.insert(std::string(row["what"].string()));
  }
  CHECK(measured.contains("record: `hook` with PostToolUse"));
  CHECK(measured.contains("prompt: `hook` with UserPromptSubmit"));
  CHECK((*report)["entries"].integer() >= 500);
}
