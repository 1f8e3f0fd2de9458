#include "install/json_edit.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace bmad_mem::cli::json_edit_test {
namespace {

/// The text with an element and a member added; REQUIREs that it is an object of JSON.
JsonEdit edited(std::string_view text) {
  Result<JsonEdit> edit = JsonEdit::read(std::string(text));
  REQUIRE(edit);
  edit->add_element({"hooks", "Stop"}, R"({"ours":[1,{"a":"b"}]})");
  edit->add_member({"servers"}, "bmad-mem", R"({"command":"x","args":[]})");
  REQUIRE(JsonEdit::read(edit->text()));
  return *edit;
}

/// The same after both were taken out.
std::string restored(JsonEdit edit) {
  const auto elements = edit.elements({"hooks", "Stop"});
  for (std::size_t i = elements.size(); i > 0; --i) {
    if (elements[i - 1].of(edit.text()).contains("ours")) {
      edit.remove_element({"hooks", "Stop"}, elements[i - 1]);
    }
  }
  edit.remove_member({"servers"}, "bmad-mem");
  return edit.result().value_or("(no file)");
}

TEST_CASE("what was added goes again without a trace") {
  static constexpr std::string_view kTexts[] = {
      "{}",
      "{ }",
      "{\n}",
      "{\n}\n",
      "  {\r\n}\r\n",
      R"({"a":1})",
      "{\"a\": 1.0e5, \"b\": [1,2,\t3] }\n",
      "{\n\t\"a\": {\n\t\t\"b\": null\n\t}\n}\n",
      R"({"hooks":{}})",
      "{\"hooks\": { },\n\n \"servers\":{\n}}",
      R"({"hooks":{"Stop":[]},"servers":{}})",
      R"({"hooks":{"Stop":[ ]},"servers":{ }})",
      "{\"hooks\":{\"Stop\":[\n]},\"servers\":{\n  }}",
      R"({"hooks":{"Stop":[{"theirs":"]},\"{"}]},"servers":{"x":{"y":"z"}}})",
      "{\n    \"hooks\": {\n        \"Stop\": [\n            1 ,\n            2\n        ]\n    "
      "}\n}",
      R"({"hooks":{"Start":[1]},"z":"end"})",
      "{\"servers\": {\"a\": 1\n}\n}\n",
      "{\"\\u0061\":\"\\ud83d\\ude00\"  ,\"hooks\"  :  {\"x\":[]}}",
      // Comments, last commas, a byte order mark.
      "// top\n{\n  // mine\n  \"a\": 1\n}\n// end",
      "{\n  \"a\": 1 // about a\n}\n",
      "{\n  \"a\": 1, // about a\n}\n",
      "{\n  \"a\": 1,\n}\n",
      R"({"a":1,})",
      R"({"a":1 , /* b */ })",
      R"({"a":1 /* b */ })",
      R"({/* nothing */})",
      "{ // nothing\n}",
      "{\n  // nothing yet\n}\n",
      "{\n  \"a\": 1\n  // \"b\": 2,\n  /* \"c\": [ */\n}\n",
      "{\"hooks\": { // ours?\n  \"Stop\": [ /* none */ ], // more\n}, \"servers\": {},}",
      "{\"hooks\":{\"Stop\":[\n  1, // one\n  2, // two\n]},\n/* s */\"servers\":{\"x\":{},}}",
      "{\"hooks\":{\"Stop\":[\n  1, // one\n  2 // two\n]}}\n",
      "{\"a\": \"// no comment /* \\\" */\", \"b\": [1,],}",
      "\xEF\xBB\xBF{\r\n\t\"a\": 1\r\n}\r\n",
      "\xEF\xBB\xBF{}",
      "",
      " ",
      "\n",
      "\n\n",
      "\xEF\xBB\xBF",
      "// only a comment\n",
      "/* only a comment */",
  };
  for (const std::string_view text : kTexts) {
    CAPTURE(text);
    CAPTURE(edited(text).text());
    CHECK(restored(edited(text)) == text);
  }
}

TEST_CASE("a file of ours alone is laid out, and empty when all is gone") {
  JsonEdit edit = JsonEdit::new_file();
  edit.add_element({"hooks", "Stop"}, R"({"ours":[1]})");
  CHECK(edit.text() ==
        "{\n"
        "  \"hooks\": {\n"
        "    \"Stop\": [\n"
        "      {\n"
        "        \"ours\": [1]\n"
        "      }\n"
        "    ]\n"
        "  }\n"
        "}\n");
  CHECK(edit.result());
  edit.remove_element({"hooks", "Stop"}, edit.elements({"hooks", "Stop"}).front());
  CHECK_FALSE(edit.result());
}

TEST_CASE("what is added takes over the indentation") {
  const std::string tabs = edited("{\n\t\"a\": 1\n}\n").text();
  CHECK(tabs.contains("\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n"));
  const std::string four = edited("{\n    \"a\": 1\n}\n").text();
  CHECK(four.contains("\n    \"hooks\": {\n        \"Stop\": [\n"));
}

TEST_CASE("what others added behind ours stays") {
  Result<JsonEdit> edit = JsonEdit::read(R"({"hooks":{"Stop":[{"ours":1},{"theirs":1}]}})");
  REQUIRE(edit);
  edit->remove_element({"hooks", "Stop"}, edit->elements({"hooks", "Stop"}).front());
  CHECK(edit->text() == R"({"hooks":{"Stop":[{"theirs":1}]}})");
}

TEST_CASE("a comment keeps its place and takes nothing with it") {
  CHECK(edited("{\n  \"a\": 1 // about a\n}\n")
            .text()
            .starts_with("{\n  \"a\": 1, // about a\n  \"hooks\": {\n"));
  // What others put into the same line behind ours is still there without it.
  static constexpr std::string_view kTexts[] = {
      R"({"x": 1, // one
  "servers": {"bmad-mem": {}}})",
      R"({"x": 1, // one
  "servers": {"bmad-mem": {}},})",
      R"({"x": 1, // one
  "servers": {"bmad-mem": {}}, "y": 2})",
  };
  for (const std::string_view text : kTexts) {
    CAPTURE(text);
    Result<JsonEdit> edit = JsonEdit::read(std::string(text));
    REQUIRE(edit);
    edit->remove_member({"servers"}, "bmad-mem");
    edit->remove_member({}, "servers");
    CAPTURE(edit->text());
    CHECK(edit->text().contains("// one"));
    CHECK(JsonEdit::read(edit->text()));
    CHECK(edit->value({"servers"}).empty());
  }
}

TEST_CASE("what is no JSON object is refused with its line") {
  struct Row {
    const char* name;
    std::string_view text;
    std::uint64_t line;
  };
  static constexpr Row kRows[] = {
      {"comment without an end", "{\n  /* mine\n  \"a\": 1\n}\n", 2},
      {"comma alone", "{\n  ,\n}\n", 2},
      {"two commas", "{\n  \"a\": [1,,]\n}\n", 2},
      {"key twice", "{\n  \"a\": 1,\n  \"a\": 2\n}\n", 3},
      {"array", "[]", 1},
      {"cut off", "{\n  \"a\": [1,\n", 3},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      const Result<JsonEdit> edit = JsonEdit::read(std::string(row.text));
      REQUIRE_FALSE(edit);
      CHECK(edit.error().line == row.line);
    }
  }
}

}  // namespace
}  // namespace bmad_mem::cli::json_edit_test
