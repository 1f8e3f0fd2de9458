#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "base/json_text.hpp"
#include "bmad_mem/json.hpp"

namespace bmad_mem::test::pretty_test {
namespace {

constexpr std::string_view kTexts[] = {
    "1",
    "\"x\"",
    "{}",
    "[]",
    R"({"n":1.00,"e":1E+2,"z":-0.0,"s":"caf\u00e9 , : { } [ ] \" \\"})",
    R"({"a":[1,2.50,{"b":[[],{},"}]"]}],"c":null,"d":{"e":{"f":[true,false]}}})",
    R"([[1,2],[3,[4,"\\"]],{"a":"\""}])",
    R"({"long":["aaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbb","cccccccccccccccccccc","dddddddddd"]})",
    "{\"\xC3\xA9\":[\"\xF0\x9F\x98\x80\"],\"\":0}",
};

/// The text without blanks between tokens.
std::string compact(std::string_view text) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      out += text[i++];
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && (text[i] == ' ' || text[i] == '\n')) {
      continue;
    }
    out += text[i];
  }
  return out;
}

}  // namespace

TEST_CASE("JSON is laid out a member a line, two blanks a level") {
  CHECK(json_pretty(R"({"a":1,"b":{"c":"x","d":{}},"e":[],"f":[1,"two",null],"g":[{"h":1}]})") ==
        R"({
  "a": 1,
  "b": {
    "c": "x",
    "d": {}
  },
  "e": [],
  "f": [1, "two", null],
  "g": [
    {
      "h": 1
    }
  ]
})");
}

TEST_CASE("an array of scalars stays on one line while it is short") {
  const std::string item = "\"" + std::string(20, 'x') + "\"";
  const std::string three = "[" + item + "," + item + "," + item + "]";
  const std::string four = "[" + item + "," + item + "," + item + "," + item + "]";
  CHECK(json_pretty(three) == "[" + item + ", " + item + ", " + item + "]");
  CHECK(json_pretty(four) ==
        "[\n  " + item + ",\n  " + item + ",\n  " + item + ",\n  " + item + "\n]");
}

TEST_CASE("no token changes a byte") {
  for (const std::string_view text : kTexts) {
    CAPTURE(std::string(text));
    CHECK(compact(json_pretty(text)) == text);
    CHECK(same_json(json_pretty(text), text));
  }
}

TEST_CASE("pretty text stays as it is, and other layouts come out the same") {
  for (const std::string_view text : kTexts) {
    CAPTURE(std::string(text));
    const std::string pretty = json_pretty(text);
    CHECK(json_pretty(pretty) == pretty);
    CHECK_FALSE(pretty.ends_with('\n'));
    CHECK(json_pretty(" \t\r\n" + std::string(text) + "\n ") == pretty);
  }
  CHECK(json_pretty("{\n\"a\"  :\t[ 1 ,\n 2 ] , \"b\":[ ],\"c\":{ \n } }") ==
        "{\n  \"a\": [1, 2],\n  \"b\": [],\n  \"c\": {}\n}");
}

}  // namespace bmad_mem::test::pretty_test
