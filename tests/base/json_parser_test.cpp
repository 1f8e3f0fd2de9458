#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "base/json_text.hpp"
#include "bmad_mem/json.hpp"

namespace bmad_mem::test::parser_test {
namespace {

bool accepts(std::string_view text) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(text);
  if (!value) {
    CHECK(value.error().code == ErrorCode::E_INVALID_FORMAT);
    CHECK_FALSE(value.error().message.empty());
    CHECK(value.error().column >= 1);
    CHECK(value.error().column <= text.size() + 1);
  }
  return value.has_value();
}

/// {"k0":0,"k1":1,…} with `count` keys, and `last` behind them.
std::string object_of(std::size_t count, std::string_view last = "") {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",") + ("\"k" + std::to_string(i) + "\":" + std::to_string(i));
  }
  return text + std::string(last) + "}";
}

}  // namespace

TEST_CASE("every JSON text of RFC 8259 is accepted") {
  constexpr std::string_view kTexts[] = {
      "{}",
      "[]",
      "null",
      "true",
      "false",
      "0",
      "-0",
      "-1.5e-3",
      "1E5",
      "\"\"",
      " \t\r\n[ 1 , 2 ] ",
      "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"",
      "\"\xC3\xA9\xF0\x9F\x98\x80\x7F\"",
      "{\"a\":{\"a\":{\"a\":[{\"a\":1},{\"a\":2}]}}}",
      "{\"\":\"\"}",
      "1e-400",  // Rounds to 0; our lines keep the bytes.
      "0.12345678901234567890123456789",
  };
  for (const std::string_view text : kTexts) {
    CAPTURE(std::string(text));
    CHECK(accepts(text));
  }
}

TEST_CASE("what is no JSON is refused") {
  constexpr std::string_view kTexts[] = {
      "",
      " ",
      "{",
      "}",
      "[",
      "]",
      "[1",
      "[1,",
      "[1,]",
      "[,1]",
      "[1 2]",
      "{\"a\"}",
      "{\"a\":}",
      "{\"a\":1,}",
      "{a:1}",
      "{'a':1}",
      "{\"a\" 1}",
      "{1:2}",
      "tru",
      "True",
      "nul",
      "NaN",
      "Infinity",
      "-",
      "+1",
      "01",
      "-01",
      "1.",
      ".5",
      "1e",
      "1e+",
      "0x1",
      "1_000",
      "\"abc",
      "\"\\q\"",
      "\"\\u12\"",
      "\"\\u12g4\"",
      "'a'",
      "\"a\nb\"",
      "\"a\tb\"",
      "\"a\x1f\"",
      "// no\n1",
      "/* no */1",
      "1//",
      "[1]\x0B",
      "\xC2\xA0[1]",
      // Trailing garbage.
      "{} x",
      "{}{}",
      "[]]",
      "1 2",
      "null,",
      "{}\n{}",
      // Surrogates that have no partner.
      "\"\\ud800\"",
      "\"\\udc00\"",
      "\"\\ud83d\\u0041\"",
      "\"\\ud83dx\"",
      "\"\\ude00\\ud83d\"",
      // Not UTF-8.
      "\"\xFF\"",
      "\"\xC0\x80\"",
      "\"\xED\xA0\x80\"",
      "\"\xC3\"",
      "\xFF",
      "{}\x80",
      // A byte order mark.
      "\xEF\xBB\xBF{}",
      "\xEF\xBB\xBF",
      "\xFF\xFE{\0}\0",
  };
  for (const std::string_view text : kTexts) {
    CAPTURE(std::string(text));
    CHECK_FALSE(accepts(text));
  }
}

TEST_CASE("nesting goes to 64 levels and no further, also in a text that made the parser grow") {
  for (const std::size_t padding : {0U, 5000U, 100'000U}) {
    CAPTURE(padding);
    const std::string filler = "\"" + std::string(padding, 'x') + "\"";
    CHECK(accepts(nested(kJsonDepthMax)));
    CHECK(accepts(nested(kJsonDepthMax, filler)));
    CHECK_FALSE(accepts(nested(kJsonDepthMax + 1)));
    CHECK_FALSE(accepts(nested(kJsonDepthMax + 1, filler)));
    CHECK(accepts("{\"a\":" + nested(kJsonDepthMax - 1, filler) + "}"));
    CHECK_FALSE(accepts("{\"a\":" + nested(kJsonDepthMax, filler) + "}"));
  }
}

TEST_CASE("an empty container is a level like any other") {
  for (const std::string_view empty : {"[]", "{}"}) {
    CHECK(accepts(nested(kJsonDepthMax - 1, empty)));
    CHECK_FALSE(accepts(nested(kJsonDepthMax, empty)));
    CHECK_FALSE(accepts(nested(kJsonDepthMax - 1, "1," + nested(2, empty))));
  }
}

TEST_CASE("a parser that has grown keeps the depth limit for the next texts") {
  JsonParser parser;
  for (const std::size_t size : {10U, 5000U, 200'000U, 10U, 1'000'000U, 3U}) {
    CAPTURE(size);
    const std::string filler = "\"" + std::string(size, 'x') + "\"";
    CHECK(parser.parse(nested(kJsonDepthMax, filler)).has_value());
    CHECK_FALSE(parser.parse(nested(kJsonDepthMax + 1, filler)).has_value());
    CHECK(parser.parse(nested(kJsonDepthMax)).has_value());
    CHECK_FALSE(parser.parse(nested(kJsonDepthMax + 1)).has_value());
  }
}

TEST_CASE("nesting without end is refused without harm") {
  CHECK_FALSE(accepts(std::string(1'000'000, '[')));
  CHECK_FALSE(accepts(nested(100'000)));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) {
    objects += "{\"a\":";
  }
  CHECK_FALSE(accepts(objects));
}

TEST_CASE("a key twice in one object is refused, at any depth and however it is written") {
  constexpr std::string_view kTexts[] = {
      "{\"a\":1,\"a\":1}",
      "{\"a\":1,\"b\":2,\"a\":3}",
      "{\"a\":1,\"\\u0061\":2}",
      "{\"\\n\":1,\"\\u000a\":2}",
      "{\"\":1,\"\":2}",
      "{\"x\":{\"a\":1,\"a\":2}}",
      "[[{\"a\":1},{\"a\":1,\"a\":2}]]",
      "{\"\xC3\xA9\":1,\"\\u00e9\":2}",
      "{\"x\":[{\"y\":{\"z\":1,\"z\":2}}]}",
  };
  for (const std::string_view text : kTexts) {
    CAPTURE(std::string(text));
    CHECK_FALSE(accepts(text));
  }
  CHECK(accepts("{\"a\":{\"a\":1},\"b\":{\"a\":1}}"));
  CHECK(accepts("{\"a\":1,\"A\":2,\"a \":3}"));
}

TEST_CASE("a key twice is found in objects of any size") {
  for (const std::size_t count : {1U, 2U, 23U, 24U, 25U, 26U, 100U, 5000U}) {
    CAPTURE(count);
    CHECK(accepts(object_of(count)));
    CHECK(accepts("[" + object_of(count) + "," + object_of(count) + "]"));
    for (const std::size_t twice : {std::size_t{0}, count / 2, count - 1}) {
      const std::string again = ",\"k" + std::to_string(twice) + "\":0";
      CHECK_FALSE(accepts(object_of(count, again)));
      CHECK_FALSE(accepts("{\"in\":[" + object_of(count, again) + "]}"));
    }
  }
}

TEST_CASE("NUL is refused raw and escaped, in strings and keys") {
  CHECK_FALSE(accepts(std::string_view("\"a\0b\"", 5)));
  CHECK_FALSE(accepts(std::string_view("{}\0", 3)));
  CHECK_FALSE(accepts(std::string_view("\0", 1)));
  CHECK_FALSE(accepts("\"\\u0000\""));
  CHECK_FALSE(accepts("\"a\\u0000b\""));
  CHECK_FALSE(accepts("{\"a\\u0000\":1}"));
  CHECK_FALSE(accepts("{\"a\":[{\"b\":\"\\u0000\"}]}"));
  CHECK_FALSE(accepts("\"\\\\\\u0000\""));  // A backslash, then NUL.
}

TEST_CASE("a backslash before u0000 is text, not NUL") {
  CHECK(Parsed("\"\\\\u0000\"").value().string() == "\\u0000");
  CHECK(Parsed("{\"\\\\u0000\":1}").value()["\\u0000"].integer() == 1);
  CHECK(accepts("\"\\u0001\\u001f\""));
}

TEST_CASE("whole numbers go from -2^63 to 2^64 - 1, other numbers as far as a double") {
  CHECK(Parsed("-9223372036854775808").value().integer() == INT64_MIN);
  CHECK(Parsed("9223372036854775807").value().integer() == INT64_MAX);
  CHECK(Parsed("9223372036854775808").value().kind() == JsonKind::kUnsigned);
  CHECK(Parsed("18446744073709551615").value().number() == 18446744073709551615.0);
  CHECK(accepts("1.7976931348623157e308"));
  constexpr std::string_view kRefused[] = {"18446744073709551616",
                                           "-9223372036854775809",
                                           "100000000000000000000000000000000",
                                           "1e400",
                                           "-1e400",
                                           "1.8e308",
                                           "[0,{\"a\":18446744073709551616}]"};
  for (const std::string_view text : kRefused) {
    CAPTURE(std::string(text));
    CHECK_FALSE(accepts(text));
  }
}

TEST_CASE("a parser takes texts one after the other, good and bad") {
  JsonParser parser;
  for (int i = 0; i < 3; ++i) {
    CHECK(parser.parse("{\"a\":1}").value()["a"].integer() == 1);
    CHECK_FALSE(parser.parse("{\"a\":").has_value());
    CHECK_FALSE(parser.parse("").has_value());
    CHECK(parser.parse("[2]").value().is_array());
  }
  JsonParser moved = std::move(parser);
  CHECK(moved.parse("\"x\"").value().string() == "x");
}

TEST_CASE("a text with padding is parsed where it lies, whatever stands behind it") {
  JsonParser parser;
  for (const std::string_view behind :
       {"\n{\"next\":1}", "]]]]]]", "99999999", "\"\"\"\"", "\\\\"}) {
    for (const std::string_view text : {"{\"a\":1}", "12", "\"s\"", "true", "[1,2]"}) {
      std::string buffer = std::string(text) + std::string(behind);
      buffer.append(kJsonPadding, '7');
      CAPTURE(buffer);
      const auto value = parser.try_parse_padded(std::string_view(buffer).substr(0, text.size()));
      REQUIRE(value.has_value());
      CHECK(same_json(*value, Parsed(text).value()));
    }
  }
}

TEST_CASE("a text that is refused with padding is refused without, and the other way round") {
  JsonParser parser;
  for (const std::string_view text : {"{\"a\":1,\"a\":2}", "[1", "1e400", "\"\\u0000\"",
                                      "\xEF\xBB\xBF{}", "{}", "\"\\\\u0000\""}) {
    std::string buffer(text);
    buffer.append(kJsonPadding, ' ');
    CAPTURE(std::string(text));
    CHECK(parser.try_parse_padded(std::string_view(buffer).substr(0, text.size())).has_value() ==
          accepts(text));
  }
}

}  // namespace bmad_mem::test::parser_test
