#include "mcp/tool_arguments.hpp"

#include <array>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"

namespace bmad_mem::test::tool_arguments_test {
using namespace bmad_mem;       // NOLINT(google-build-using-namespace)
using namespace bmad_mem::cli;  // NOLINT(google-build-using-namespace)

namespace {

/// The field that is wrong in `json`; empty when nothing is.
std::string wrong_field(const std::string& json) {
  static constexpr std::array<std::string_view, 2> kChoices = {"red", "blue"};
  static constexpr JsonParameter kRows[] = {
      {.name = "text"},
      {.name = "need", .required = true},
      {.name = "count", .kind = ArgumentKind::kNumber, .min = 1, .max = 10, .fallback = "5"},
      {.name = "share", .kind = ArgumentKind::kShare},
      {.name = "flag", .kind = ArgumentKind::kFlag},
      {.name = "list", .kind = ArgumentKind::kTexts, .max = 2},
      {.name = "colour", .kind = ArgumentKind::kChoice, .choices = kChoices},
  };
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(json);
  REQUIRE(value);
  const ToolArguments args(*value, kRows);
  CHECK((args.value("count").present() || args.integer("count") == 5));
  const Status status = args.check();
  return status ? "" : status.error().field;
}

}  // namespace

TEST_CASE("the first wrong argument is named") {
  struct Row {
    const char* json;
    const char* field;
  };
  static constexpr Row kRows[] = {
      {R"({"need":"x"})", ""},
      {R"({"need":"x","text":null,"count":null,"list":null})", ""},
      {R"({"need":"x","count":10,"share":0.5,"flag":true,"list":["a","b"],"colour":"red"})", ""},
      {R"({"need":"x","count":3.0,"list":"a"})", ""},
      {R"({})", "need"},
      {R"({"need":" \n"})", "need"},
      {R"({"need":7})", "need"},
      {R"({"need":"x","text":{}})", "text"},
      {R"({"need":"x","count":0})", "count"},
      {R"({"need":"x","count":11})", "count"},
      {R"({"need":"x","count":3.5})", "count"},
      {R"({"need":"x","count":1e300})", "count"},
      {R"({"need":"x","count":18446744073709551615})", "count"},
      {R"({"need":"x","count":"3"})", "count"},
      {R"({"need":"x","share":1.5})", "share"},
      {R"({"need":"x","flag":"yes"})", "flag"},
      {R"({"need":"x","list":["a",1]})", "list"},
      {R"({"need":"x","list":["a","b","c"]})", "list"},
      {R"({"need":"x","list":{}})", "list"},
      {R"({"need":"x","colour":"green"})", "colour"},
      {R"({"need":"x","color":"red"})", "color"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.json);
    CHECK(wrong_field(row.json) == row.field);
  }
}

TEST_CASE("a category is also understood by the word that people use for it") {
  static constexpr std::array<std::string_view, 2> kChoices = {"constraint", "pattern"};
  CHECK(is_choice("category", kChoices, "pattern"));
  CHECK(is_choice("category", kChoices, "rule"));
  CHECK_FALSE(is_choice("category", kChoices, "rules"));
  CHECK_FALSE(is_choice("colour", kChoices, "rule"));
}

TEST_CASE("what is absent, null or empty is what its row says") {
  static constexpr std::array<std::string_view, 2> kChoices = {"look", "do"};
  static constexpr JsonParameter kRows[] = {
      {.name = "action", .kind = ArgumentKind::kChoice, .fallback = "look", .choices = kChoices},
      {.name = "dry_run", .kind = ArgumentKind::kFlag, .fallback = "true"},
      {.name = "limit", .kind = ArgumentKind::kNumber, .min = 1, .max = 9, .fallback = "7"},
  };
  for (const char* const json :
       {"{}", R"({"action":null,"dry_run":null,"limit":null})", R"({"action":""})"}) {
    CAPTURE(json);
    JsonParser parser;
    const ToolArguments args(parser.parse(json).value(), kRows);
    CHECK(args.check());
    CHECK(args.text("action") == "look");
    CHECK(args.boolean("dry_run"));
    CHECK(args.integer("limit") == 7);
  }
}

TEST_CASE("an argument that doesn't exist suggests the nearest") {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(R"({"querry":"x"})");
  REQUIRE(value);
  static constexpr JsonParameter kRows[] = {{.name = "query"}, {.name = "limit"}};
  const Status status = ToolArguments(*value, kRows).check();
  REQUIRE_FALSE(status);
  CHECK(status.error().message == "there is no such argument; did you mean \"query\"?");
}

TEST_CASE("a parsed value is written as the same value") {
  for (const std::string json :
       {R"({"a":[1,-2,2.5,true,false,null,"x\n\"y\""],"b":{"c":{}},"d":[]})", R"("text")", "17",
        "-9223372036854775808"}) {
    JsonParser parser;
    const Result<JsonValue> value = parser.parse(json);
    REQUIRE(value);
    CHECK(can_write_json(*value));
    CHECK(json_of(*value) == json);
  }
}

TEST_CASE("a number that would lose digits is not written") {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(R"({"a":[{"b":18446744073709551615}]})");
  REQUIRE(value);
  CHECK_FALSE(can_write_json(*value));
}

}  // namespace bmad_mem::test::tool_arguments_test
