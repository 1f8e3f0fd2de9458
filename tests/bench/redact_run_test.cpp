// redact_run_test.cpp - `bmad-bench redact` as a whole, in small.
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"
#include "run_bench.hpp"

using namespace bmad_mem;
using namespace bmad_mem::test;

TEST_CASE("a tiny benchmark of the redactor measures every row") {
  const BenchOutcome outcome = run_bench("redact --json --effort 0.001");
  JsonParser parser;
  const Result<JsonValue> report = parser.parse(json_in(outcome.output));
  REQUIRE_MESSAGE(report, outcome.output);
  std::set<std::string> measured;
  for (const JsonValue row : (*report)["rows"].elements()) {
    CHECK(row["ours"]["count"].integer() >= 1);
    measured.insert(std::string(row["what"].string()));
  }
  CHECK(measured.contains("messages of the corpus, all rules"));
  CHECK(measured.contains("one text of 400 bytes"));
  CHECK(measured.contains("twice as much of aaaa"));
}
