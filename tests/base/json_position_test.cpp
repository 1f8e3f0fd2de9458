#include <string_view>

#include <doctest/doctest.h>

#include "base/json_cursor.hpp"
#include "bmad_mem/json.hpp"

namespace bmad_mem::test::json_position_test {

TEST_CASE("a byte has a line and a column, counted from 1") {
  constexpr std::string_view kText = "ab\ncd\n\ne";
  struct Row {
    std::size_t offset;
    TextPosition position;
  };
  constexpr Row kRows[] = {
      {0, {1, 1}}, {1, {1, 2}}, {2, {1, 3}}, {3, {2, 1}},
      {5, {2, 3}}, {6, {3, 1}}, {7, {4, 1}}, {8, {4, 2}},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.offset);
    CHECK(position_at(kText, row.offset) == row.position);
  }
  CHECK(position_at("", 0) == TextPosition{1, 1});
}

TEST_CASE("a member is found by its dotted name") {
  constexpr std::string_view kText = R"({
  "a": "}\"{", "skip": [1, {"b": 2}, "]"],
  "o": {
    "b" : {"c":1},   "d": []
  },
  "last": null
})";
  struct Row {
    const char* field;
    TextPosition position;
  };
  constexpr Row kRows[] = {
      {"a", {2, 3}},
      {"skip", {2, 16}},
      {"o", {3, 3}},
      {"o.b", {4, 5}},
      {"o.b.c", {4, 12}},
      {"o.d", {4, 22}},
      {"last", {6, 3}},
      {"o.missing", {3, 3}},      // The object that should hold it.
      {"o.b.missing.x", {4, 5}},  // The deepest one there is.
      {"a.x", {2, 3}},            // Nothing can be in a string.
      {"missing", {0, 0}},
      {"skip.b", {2, 16}},  // Arrays are not entered.
      {"", {0, 0}},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.field);
    CHECK(position_of_member(kText, row.field) == row.position);
  }
}

TEST_CASE("looking for a member never leaves the text, whatever it is") {
  constexpr std::string_view kText = R"({"a":{"b":"c\"","d":[1,{}]},"e":2})";
  for (std::size_t size = 0; size <= kText.size(); ++size) {
    for (std::size_t start = 0; start < size; ++start) {
      static_cast<void>(position_of_member(kText.substr(start, size - start), "a.d.x"));
      static_cast<void>(position_of_member(kText.substr(start, size - start), "e"));
    }
  }
}

TEST_CASE("a problem's column in the text becomes line and column in the file") {
  constexpr std::string_view kText = "{\n  \"a\": 1,\n  \"a\": 2\n}";
  const Error problem = problem_in_file(json_problem(kText), kText, "config.json");
  CHECK(problem.path == "config.json");
  CHECK(problem.line == 3);
  CHECK(problem.column >= 3);
  CHECK(problem.column <= 5);
  CHECK(problem.field == "a");
}

}  // namespace bmad_mem::test::json_position_test
