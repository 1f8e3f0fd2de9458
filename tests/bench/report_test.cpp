#include "report.hpp"

#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"

using namespace bmad_mem;
using namespace bmad_mem::bench;

namespace {

Row row_with(double ours, Target target) {
  Row row("a row", "ms", {ours});
  return row.wants(target);
}

}  // namespace

TEST_CASE("a summary is the median and the middle 80 %") {
  Values values;
  for (int i = 100; i >= 0; --i) {
    values.push_back(i);
  }
  const Summary summary = summarize(values);
  CHECK(summary.median == doctest::Approx(50));
  CHECK(summary.low == doctest::Approx(10));
  CHECK(summary.high == doctest::Approx(90));
  CHECK(summary.count == 101);
  CHECK(summarize({3, 1}).median == doctest::Approx(2));
  CHECK(percentile(values, 0.95) == doctest::Approx(95));
  CHECK(percentile({7}, 0.95) == 7);
}

TEST_CASE("a verdict compares the right value in the right direction") {
  CHECK(row_with(0.7, at_most(2, 0.7)).verdict() == "aim met");
  CHECK(row_with(1.9, at_most(2, 0.7)).verdict() == "met");
  CHECK(row_with(2.1, at_most(2, 0.7)).verdict() == "MISSED");

  Row ratio("a rate", "/s", {79});
  ratio.beside("raw", {100}).wants(ratio_at_least(0.8, 0.95));
  CHECK(ratio.verdict() == "MISSED");
  CHECK(ratio.beside("raw", {80}).verdict() == "aim met");

  CHECK(Row("no target", "", {1}).verdict() == "");
  CHECK(Row::not_measured("gone", "no disk").verdict() == "");
}

TEST_CASE("a ratio above 1 is faster, of rates and of times") {
  Row rate("a rate", "/s", {200, 300});
  CHECK(rate.beside("raw", {100, 100}).ratio->median == doctest::Approx(2.5));
  Row time("a time", "ms", {2, 2});
  CHECK(time.beside("raw", {1, 4}).ratio->median == doctest::Approx(1.25));
  Row share("a share", "", {0.5});
  CHECK_FALSE(share.beside("raw", {0.25}).ratio);
}

TEST_CASE("numbers show three digits or more") {
  struct Case {
    double value;
    const char* text;
  };
  static constexpr Case kCases[] = {{0.0314, "0.031"},     {0.954, "0.954"}, {3.149, "3.15"},
                                    {31.49, "31.5"},       {314.9, "315"},   {12345, "12,345"},
                                    {1234567, "1,234,567"}};
  for (const Case& row : kCases) {
    CHECK(value_text(row.value, "") == row.text);
  }
  CHECK(value_text(-1234, "/s") == "-1,234 /s");
}

TEST_CASE("a table has lines of one width, and says what could not be measured") {
  const Row rows[] = {row_with(1, at_least(0.5)),
                      Row::not_measured("another", "there is no such program")};
  const std::string table = table_text(rows);
  CHECK(table.find("aim met") == std::string::npos);  // There is no aim.
  CHECK(table.find("| another") != std::string::npos);
  CHECK(table.find("not measured") != std::string::npos);
  CHECK(table.find("- another: there is no such program") != std::string::npos);
}

TEST_CASE("rows as JSON hold every number and the verdict") {
  Row row = row_with(1.5, at_most(2, 1));
  row.beside("raw", {0.75});
  JsonWriter json;
  write_rows(json, std::span(&row, 1));
  JsonParser parser;
  const Result<JsonValue> rows = parser.parse(json.text());
  REQUIRE(rows);
  const JsonValue first = *rows->elements().begin();
  CHECK(first["what"].string() == "a row");
  CHECK(first["ours"]["median"].number() == doctest::Approx(1.5));
  CHECK(first["ratio"]["median"].number() == doctest::Approx(0.5));
  CHECK(first["target"]["verdict"].string() == "met");
}
