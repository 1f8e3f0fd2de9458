#include "base/object_text.hpp"

#include <array>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "base/json_text.hpp"

namespace bmad_mem::test::object_text_test {
namespace {

ObjectText object_of(std::string_view text) {
  const Parsed parsed(text);
  return {parsed.value(), text};
}

}  // namespace

TEST_CASE("an object that nobody changes keeps every byte of its tokens") {
  constexpr std::string_view kTexts[] = {
      "{}",
      R"({"a":1})",
      R"({"n":1.00,"e":1E+2,"z":-0.0,"big":18446744073709551615})",
      R"({"s":"caf\u00e9 \/ \ud83d\ude00 \"x\" \\","t":"a:b,c}d]e{f["})",
      R"({"\u0061b":1,"a\"b":2,"a\\":3,"":4,"}":5,",":6})",
      R"({"nested":{"a":[1,{"b":[[],{},"}]"]}],"c":null},"after":true})",
      "{\"\xC3\xA9\":\"\xF0\x9F\x98\x80\"}",
  };
  for (const std::string_view text : kTexts) {
    CAPTURE(std::string(text));
    CHECK(object_of(text).to_line() == text);
  }
}

TEST_CASE("only blanks between tokens are gone, on all levels") {
  CHECK(object_of(" \n{ \"a\" :\t[ 1 , 2.50 ,\r\n{ \"b\" : \" x  y \" } ] , \"c\": { } }\n ")
            .to_line() == R"({"a":[1,2.50,{"b":" x  y "}],"c":{}})");
}

TEST_CASE("a member's text is found by its decoded key") {
  const ObjectText object = object_of(R"({"\u0061b" : 1.00, "q\"": "x,\"}", "o": { "a" : [ ] }})");
  CHECK(object.raw("ab") == "1.00");
  CHECK(object.raw("q\"") == R"("x,\"}")");
  CHECK(object.raw("o") == R"({"a":[]})");
  CHECK(object.raw("missing").empty());
  CHECK(object.has("ab"));
  CHECK_FALSE(object.has("\\u0061b"));
  CHECK_FALSE(object.has("a"));
}

TEST_CASE("setting a member replaces it in its place, or appends it") {
  ObjectText object = object_of(R"({"a":1.00,"\u0062":2,"c":{"x":[ 1 ]}})");
  object.set("b", "[3]");
  object.set("d", "null");
  object.set_string("e", "say \"hi\"\n");
  object.set_string("quote\"", "");
  CHECK(object.to_line() ==
        R"({"a":1.00,"\u0062":[3],"c":{"x":[1]},"d":null,"e":"say \"hi\"\n","quote\"":""})");
}

TEST_CASE("removing takes one member out, and one that isn't there changes nothing") {
  ObjectText object = object_of(R"({"a":1,"b":2,"c":3})");
  object.remove("b");
  object.remove("x");
  CHECK(object.to_line() == R"({"a":1,"c":3})");
  object.remove("a");
  object.remove("c");
  CHECK(object.to_line() == "{}");
  object.set("n", "1");
  CHECK(object.to_line() == R"({"n":1})");
}

TEST_CASE("members are written first, between and last as asked, each once") {
  const ObjectText object = object_of(R"({"x":1,"id":2,"y":3,"decay":4,"time":5})");
  constexpr std::array<std::string_view, 3> kFirst = {"id", "time", "absent"};
  constexpr std::array<std::string_view, 2> kLast = {"decay", "absent"};
  CHECK(object.to_line(kFirst, kLast) == R"({"id":2,"time":5,"x":1,"y":3,"decay":4})");
  CHECK(object.to_line(kFirst) == R"({"id":2,"time":5,"x":1,"y":3,"decay":4})");
  CHECK(object.to_line({}, kLast) == R"({"x":1,"id":2,"y":3,"time":5,"decay":4})");
}

TEST_CASE("an object copied from a text outlives the text and the parser") {
  ObjectText object = [] {
    const std::string text = R"({"a":"a long string that does not fit in place"})";
    const Parsed parsed(text);
    return ObjectText(parsed.value(), text);
  }();
  CHECK(object.raw("a") == "\"a long string that does not fit in place\"");
}

TEST_CASE("an object with many and with large members is kept whole") {
  std::string text = "{";
  for (int i = 0; i < 500; ++i) {
    text += (i == 0 ? "" : ",") + ("\"key" + std::to_string(i) + "\":[" + std::to_string(i) + "]");
  }
  text += ",\"big\":\"" + std::string(300'000, 'x') + "\"}";
  CHECK(object_of(text).to_line() == text);
}

}  // namespace bmad_mem::test::object_text_test
