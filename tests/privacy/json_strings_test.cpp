// json_strings_test.cpp - every string of an entry is seen, and nothing else changes.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "privacy/replacement.hpp"

namespace bmad_mem::test::json_strings_test {
namespace {

std::optional<std::string> replaced(
    std::string_view json,
    const std::function<std::optional<std::string>(const JsonString&)>& replace) {
  JsonParser parser;
  return replace_json_strings(parser.parse(json).value(), json, replace);
}

/// "name=text" of each string, '#' in front of ids.
std::vector<std::string> seen(std::string_view json) {
  std::vector<std::string> all;
  CHECK_FALSE(replaced(json, [&](const JsonString& string) {
                all.push_back((string.is_id ? "#" : "") + std::string(string.name) + "=" +
                              std::string(string.text));
                return std::optional<std::string>();
              }).has_value());
  return all;
}

std::string shouted(std::string_view json, std::string_view what) {
  return replaced(json,
                  [&](const JsonString& string) -> std::optional<std::string> {
                    return string.text == what ? std::optional<std::string>("NEW\n") : std::nullopt;
                  })
      .value_or("nothing");
}

}  // namespace

TEST_CASE("names, values, arrays and what is nested are all seen") {
  CHECK(seen(R"({"a":"1","b":["2",{"c":"3"}],"d":4,"e":null})") ==
        std::vector<std::string>{"=a", "a=1", "=b", "b=2", "=c", "c=3", "=d", "=e"});
}

TEST_CASE("strings are seen decoded") {
  CHECK(seen("{\"a\":\"x\\u0041\\n\\\"\"}").back() == "a=xA\n\"");
}

TEST_CASE("ids and references are known as such") {
  CHECK(seen(R"({"id":"m1","parent_message_id":"m0","references":{"decisions":["d1"]}})") ==
        std::vector<std::string>{"=id", "#id=m1", "=parent_message_id", "#parent_message_id=m0",
                                 "=references", "=decisions", "#decisions=d1"});
}

TEST_CASE("a value beside a name belongs to it") {
  CHECK(seen(R"({"name":"DB_PASSWORD","value":"x"})").back() == "DB_PASSWORD=x");
  CHECK(seen(R"({"value":"x","key":"api_token"})")[1] == "api_token=x");
}

TEST_CASE("what is not replaced keeps its bytes") {
  CHECK(shouted(R"({ "n": 1.00, "a" : "old", "u":"\u00e9" })", "old") ==
        R"({ "n": 1.00, "a" : "NEW\n", "u":"\u00e9" })");
  CHECK(shouted(R"({"a":{"b":["old","older"]},"c":"old"})", "old") ==
        R"({"a":{"b":["NEW\n","older"]},"c":"NEW\n"})");
}

TEST_CASE("two members whose names are replaced stay two") {
  const std::string json =
      replaced(R"({"x1":1,"x2":2,"x3":{"x4":3}})", [](const JsonString& string) {
        return string.text.starts_with('x') ? std::optional<std::string>("X") : std::nullopt;
      }).value();
  CHECK(json == R"({"X":1,"X#2":2,"X#3":{"X":3}})");
}

}  // namespace bmad_mem::test::json_strings_test
