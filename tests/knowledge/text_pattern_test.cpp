// text_pattern_test.cpp - patterns as users write them.
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "knowledge/knowledge_store.hpp"

namespace bmad_mem::test::text_pattern_test {
namespace {

/// Whether a rule with the pattern `match` teaches something of `text`.
Result<bool> teaches(std::string match, std::string_view text) {
  const LearnRule rule{.match = std::move(match), .category = "pattern", .value = "x"};
  const auto lessons = lessons_of_rules({&rule, 1}, "", text);
  return lessons ? Result<bool>(!lessons->empty()) : lessons.error();
}

}  // namespace

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
    const Result<bool> matches = teaches(std::string(row.pattern), row.text);
    REQUIRE(matches.has_value());
    CHECK(*matches == row.matches);
  }
}

TEST_CASE("a pattern that is none says what is wrong in it") {
  for (const std::string_view pattern : {"(", "[a", "a**", "\\", "(?<=a)b", "x{2000}"}) {
    CAPTURE(pattern);
    const Result<bool> made = teaches(std::string(pattern), "");
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == ErrorCode::E_SCHEMA_INVALID);
    CHECK(made.error().message.find("doesn't compile") != std::string::npos);
  }
  const Result<bool> huge = teaches(std::string(5000, 'a'), "");
  REQUIRE_FALSE(huge.has_value());
  CHECK(huge.error().code == ErrorCode::E_SCHEMA_INVALID);
}

TEST_CASE("a pattern that ruins other engines stays linear") {
  const Result<bool> matches = teaches("(a+)+$", std::string(1'000'000, 'a') + "b");
  REQUIRE(matches.has_value());
  CHECK_FALSE(*matches);
}

}  // namespace bmad_mem::test::text_pattern_test
