// text_pattern_test.cpp - patterns as users write them.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "knowledge/learn_rules.hpp"

namespace bmad_mem::test::text_pattern_test {

TEST_CASE("a pattern is looked for anywhere in the text") {
  struct Row {
    std::string_view pattern;
    std::string_view text;
    bool matches;
  };
  static constexpr Row kRows[] = {
      {"requireAuth", "export const a = requireAuth(ctx)", true},
      {"requireAuth", "export const a = requireauth(ctx)", false},
      {"(?i)requireauth", "export const a = requireAuth(ctx)", true},
      {"^all \\d+ tests passed$", "all 12 tests passed", true},
      {"^all \\d+ tests passed$", "built\nall 12 tests passed\n", false},
      {"(?m)^all \\d+ tests passed$", "built\nall 12 tests passed\n", true},
      {"grün|green", "alles grün", true},
      {"^.$", "ü", true},
      {"a.b", "a\nb", false},
      {"", "anything", true},
      {"", "", true},
      {"x", "", false},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.pattern);
    CAPTURE(row.text);
    const Result<TextPattern> pattern = TextPattern::make(row.pattern);
    REQUIRE(pattern.has_value());
    CHECK(pattern->matches(row.text) == row.matches);
  }
}

TEST_CASE("a pattern that is none says what is wrong in it") {
  for (const std::string_view pattern : {"(", "[a", "a**", "\\", "(?<=a)b", "x{2000}"}) {
    CAPTURE(pattern);
    const Result<TextPattern> made = TextPattern::make(pattern);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == ErrorCode::E_SCHEMA_INVALID);
    CHECK(made.error().message.find("doesn't compile") != std::string::npos);
  }
  const Result<TextPattern> huge = TextPattern::make(std::string(5000, 'a'));
  REQUIRE_FALSE(huge.has_value());
  CHECK(huge.error().code == ErrorCode::E_SCHEMA_INVALID);
}

TEST_CASE("a pattern that ruins other engines stays linear") {
  const Result<TextPattern> pattern = TextPattern::make("(a+)+$");
  REQUIRE(pattern.has_value());
  CHECK_FALSE(pattern->matches(std::string(1'000'000, 'a') + "b"));
}

}  // namespace bmad_mem::test::text_pattern_test
