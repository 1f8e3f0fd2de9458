#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "base/json_text.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem::test::problem_test {
namespace {

constexpr std::string_view kDisagreement = "not valid JSON";

/// What mutants are made of: a bit of everything that can go wrong.
constexpr std::string_view kSeeds[] = {
    R"({"id":"msg-001","timestamp":"2026-01-11T10:05:23Z","content":"caf\u00e9 \ud83d\ude00"})",
    R"({"a":[1,2.5e-3,-0,true,false,null,{"b":{"c":[]}}],"d":"\"\\\/\b\f\n\r\t","e":{}})",
    R"([18446744073709551615,-9223372036854775808,1.7976931348623157e308,"x"])",
    "{\"\xC3\xA9\xE2\x82\xAC\":\"\xF0\x9F\x98\x80\",\"tags\":[\"a\",\"b\"],\"a\":{\"a\":{\"a\":1}}"
    "}",
    " \t\r\n{ \"x\" : [ ] , \"y\" : { } } \n",
};

std::string mutant(std::mt19937& random) {
  constexpr std::string_view kBytes = "{}[]\",:\\u0019eE+-.tfn \n\t\x7f\x80\xC3\xED\xF4\xFF";
  std::string text(kSeeds[random() % std::size(kSeeds)]);
  for (std::size_t edits = 1 + random() % 3; edits-- > 0 && !text.empty();) {
    const std::size_t at = random() % text.size();
    switch (random() % 6) {
      case 0:
        text[at] = kBytes[random() % kBytes.size()];
        break;
      case 1:
        text.insert(at, 1, kBytes[random() % kBytes.size()]);
        break;
      case 2:
        text.erase(at, 1 + random() % 4);
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        text.insert(at, text.substr(random() % text.size(), random() % 12));
        break;
      default:
        text[at] = static_cast<char>(random());
    }
  }
  return text;
}

}  // namespace

TEST_CASE("a problem has a column, a field and a reason") {
  struct Row {
    std::string_view text;
    std::size_t column;
    const char* field;
    const char* reason;
  };
  constexpr Row kRows[] = {
      {"", 1, "", "not valid JSON: unexpected end of input"},
      {"[1,2", 5, "[2]", "unexpected end of input"},
      {"{\"a\":}", 6, "a", "unexpected '}'"},
      {"{\"a\":1,}", 8, "a", "unexpected '}'"},
      {"{\"a\" 1}", 6, "a", "expected ':'"},
      {"{a:1}", 2, "", "expected string literal"},
      {"[1,]", 4, "[1]", "unexpected ']'"},
      {"{} x", 4, "", "expected end of input"},
      {"{}{}", 3, "", "expected end of input"},
      {"{\"a\":[{\"x\":1},{\"x\":nope}]}", 21, "a[1].x", "invalid literal"},
      {"{\"a\":\"b", 8, "a", "missing closing quote"},
      {"{\"a\":\"b\n\"}", 8, "a", "must be escaped"},
      {"[\"\\q\"]", 4, "[0]", "forbidden character after backslash"},
      {"[\"\\ud800\"]", 9, "[0]", "surrogate"},
      {"{\"a\":1,\"a\":2}", 8, "a", "the key is twice in one object"},
      {"{\"a\":1,\"\\u0061\":2}", 8, "a", "the key is twice in one object"},
      {"{\"a\\\"\":1,\"a\\\"\":2}", 10, "a\"", "the key is twice in one object"},
      {"{\"a\\\\\":1,\"a\\\\\":2}", 10, "a\\", "the key is twice in one object"},
      {"{\"a\":1,\"b\":{\"c\":[1,{\"d\":1,\"d\":2}]}}", 27, "b.c[1].d", "twice"},
      {"{\"a\":\"x\\u0000y\"}", 6, "a", "contains NUL (\\u0000)"},
      {"{\"a\":[\"\",\"\\\\\\u0000\"]}", 10, "a[1]", "contains NUL (\\u0000)"},
      {"{\"a\\u0000b\":1}", 2, "a?b", "a key contains NUL"},
      {"{\"a\":18446744073709551616}", 6, "a", "the number 18446744073709551616 is beyond 64 bits"},
      {"[0, -9223372036854775809 ]", 5, "[1]", "beyond 64 bits"},
      {"18446744073709551616", 1, "", "beyond 64 bits"},
      {"{\"a\":1e400}", 6, "a", "the number 1e400 is too large"},
      {"[0,-1e400]", 4, "[1]", "the number -1e400 is too large"},
      {"\xEF\xBB\xBF{}", 1, "", "byte order mark"},
      {std::string_view("{\"a\":\"\0\"}", 9), 7, "", "NUL byte"},
      {"{\"a\":\"\xFF\"}", 7, "", "not valid UTF-8: byte 0xff"},
  };
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.text));
    const Error problem = json_problem(row.text);
    CHECK(problem.code == ErrorCode::E_INVALID_FORMAT);
    CHECK(problem.column == row.column);
    CHECK(problem.field == row.field);
    CHECK(problem.message.find(row.reason) != std::string::npos);
  }
}

TEST_CASE("nesting that is too deep is found at the bracket that goes too far") {
  const Error arrays = json_problem(nested(kJsonDepthMax + 1));
  CHECK(arrays.column == kJsonDepthMax + 1);
  CHECK(arrays.message == "nested deeper than 64 levels");
  const Error object = json_problem("{\"a\":" + nested(kJsonDepthMax) + "}");
  CHECK(object.column == 5 + kJsonDepthMax);
  CHECK(object.field.starts_with("a[0][0]"));
}

TEST_CASE("a text can be well-formed and yet be refused") {
  const std::string refused[] = {nested(100'000), R"({"a":1,"a":2})", R"(["\u0000"])"};
  for (const std::string& text : refused) {
    CHECK(is_well_formed_json(text));
    CHECK_FALSE(is_well_formed_json(text + "]"));
    CHECK_FALSE(is_well_formed_json(text.substr(0, text.size() - 1)));
  }
}

TEST_CASE("what a problem quotes is short, whatever the text") {
  const std::string huge(1'000'000, 'x');
  const std::string texts[] = {
      "\"" + huge,
      "{\"" + huge + "\":}",
      "{\"" + huge + "\":1,\"" + huge + "\":2}",
      "[" + std::string(1'000'000, '9') + "]",
      "[1e" + std::string(1'000'000, '9') + "]",
      "\"" + huge + "\\q\"",
      huge,
  };
  for (const std::string& text : texts) {
    const Error problem = json_problem(text);
    CHECK(problem.message.size() < 400);
    CHECK(problem.field.size() < 100);
    CHECK(utf8_valid_size(problem.message) == problem.message.size());
  }
}

TEST_CASE("a field is fit for a terminal") {
  const Error problem = json_problem("{\"a\\u001b[31m\\n\":{\"b\":1,\"b\":2}}");
  CHECK(problem.field == "a?[31m?.b");
}

TEST_CASE("both parsers agree on what is JSON, and each refused text gets a reason") {
  constexpr std::uint32_t kSeed = 20261121;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  JsonParser parser;
  std::size_t refused_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = mutant(random);
    CAPTURE(text);
    const bool accepted = parser.parse(text).has_value();
    const Error problem = json_problem(text);
    REQUIRE((problem.message == kDisagreement) == accepted);
    if (!accepted) {
      ++refused_count;
      REQUIRE_FALSE(problem.message.empty());
      REQUIRE(problem.column >= 1);
      REQUIRE(problem.column <= text.size() + 1);
      REQUIRE(problem.message.find_first_of("\n\r\x1b") == std::string::npos);
      REQUIRE(problem.message.find('\0') == std::string::npos);
      REQUIRE(utf8_valid_size(problem.message) == problem.message.size());
      REQUIRE(utf8_valid_size(problem.field) == problem.field.size());
    }
  }
  CHECK(refused_count > 10'000);
  CHECK(refused_count < 19'500);
}

TEST_CASE("every prefix of a text has a problem, at its end") {
  for (const std::string_view seed : kSeeds) {
    const std::size_t end = seed.find_last_of("}]");
    for (std::size_t size = 0; size <= end; ++size) {
      const std::string_view text = seed.substr(0, size);
      CAPTURE(std::string(text));
      const Error problem = json_problem(text);
      CHECK(problem.message != kDisagreement);
      CHECK_FALSE(problem.message.empty());
      if (utf8_valid_size(text) == text.size() && text.find_last_of("0123456789eE.-") != size - 1) {
        CHECK(problem.column == text.size() + 1);
      }
    }
  }
}

}  // namespace bmad_mem::test::problem_test
