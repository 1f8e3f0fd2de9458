// extraction_answer_test.cpp - what a model may answer, and what is said about anything else.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "knowledge/extraction_prompt.hpp"

namespace bmad_mem::test::extraction_answer_test {
namespace {

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : " ") + std::string("word");
  }
  return text;
}

std::string facts(int count) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",") + std::string(R"({"text":"f )") + std::to_string(i) + "\"}";
  }
  return text + "]";
}

}  // namespace

TEST_CASE("an answer within the contract is taken") {
  const auto taken = parse_extraction_answer(
      " [{\"text\": \" Seats are held \", \"tags\": [\"booking\", \"Größe\"]},\n"
      "  {\"tags\": [], \"text\": \"Ann \\u00e9crit\"}, {\"text\": \"c\"}]\n");
  REQUIRE(taken.has_value());
  REQUIRE(taken->size() == 3);
  CHECK((*taken)[0].text == "Seats are held");
  CHECK((*taken)[0].tags == std::vector<std::string>{"booking", "Größe"});
  CHECK((*taken)[1].text == "Ann écrit");
  CHECK((*taken)[2].tags.empty());
  CHECK(parse_extraction_answer("[]")->empty());
  CHECK(parse_extraction_answer(facts(10))->size() == 10);
  CHECK(parse_extraction_answer(R"([{"text":")" + words(40) + "\"}]").has_value());
}

TEST_CASE("a fence around the answer is no fault") {
  for (const std::string_view answer :
       {"```json\n[{\"text\":\"a\"}]\n```", "```\n[{\"text\":\"a\"}]\n```\n",
        "\n```json\r\n[{\"text\":\"a\"}]```"}) {
    CAPTURE(answer);
    const auto taken = parse_extraction_answer(answer);
    REQUIRE(taken.has_value());
    CHECK(taken->size() == 1);
  }
}

TEST_CASE("what can't be seen is not stored") {
  const auto taken = parse_extraction_answer("[{\"text\":\"a\u202Eb\u200B\"}]");
  REQUIRE(taken.has_value());
  CHECK((*taken)[0].text == "ab");
}

TEST_CASE("anything else is refused as a whole, with the place") {
  struct Row {
    const char* name;
    std::string answer;
    std::uint64_t line;
    std::uint64_t column;
    std::string_view field;
    std::string_view says;
  };
  const Row rows[] = {
      {"nothing", "", 1, 1, "", "is empty"},
      {"blanks", " \n ", 2, 2, "", "is empty"},
      {"prose", "Here are the facts:", 1, 1, "", "not a JSON array"},
      {"prose before", "Facts:\n[]", 1, 1, "", "not a JSON array"},
      {"prose behind", "[] I hope this helps", 1, 4, "", "not a JSON array"},
      {"cut off", "[{\"text\":\"a\"", 1, 13, "", "not a JSON array"},
      {"fence not closed", "```json\n[]", 1, 1, "", "not a JSON array"},
      {"other fence", "```python\n[]\n```", 1, 1, "", "not a JSON array"},
      {"an object", R"({"facts":[]})", 1, 1, "", "must be a JSON array"},
      {"strings", R"(["a"])", 1, 2, "[0]", "must be an object"},
      {"eleven", facts(11), 1, 0, "[10]", "more than 10 facts"},
      {"no text", R"([{"tags":[]}])", 1, 2, "[0].text", "has no text"},
      {"empty text", R"([{"text":" "}])", 1, 10, "[0].text", "has no text"},
      {"invisible text", "[{\"text\":\"\u200B\"}]", 1, 10, "[0].text", "has no text"},
      {"text no string", R"([{"text":7}])", 1, 10, "[0].text", "must be a string"},
      {"41 words", "[\n {\"text\":\"" + words(41) + "\"}]", 2, 10, "[0].text", "has 41 words"},
      {"line break", R"([{"text":"a\nb"}])", 1, 10, "[0].text", "line break"},
      {"escape", R"([{"text":"a\u001b[0m"}])", 1, 10, "[0].text", "control character"},
      {"more members", R"([{"text":"a","confidence":1}])", 1, 14, "[0].confidence", "only text"},
      {"tags no array", R"([{"text":"a","tags":"b"}])", 1, 21, "[0].tags", "array of strings"},
      {"nine tags", R"([{"text":"a","tags":["1","2","3","4","5","6","7","8","9"]}])", 1, 54,
       "[0].tags[8]", "more than 8 tags"},
      {"empty tag", R"([{"text":"a"},{"text":"b","tags":["c",""]}])", 1, 39, "[1].tags[1]",
       "a word or two"},
      {"tag no string", R"([{"text":"a","tags":[1]}])", 1, 22, "[0].tags[0]", "a word or two"},
      {"long tag", R"([{"text":"a","tags":[")" + std::string(41, 't') + "\"]}]", 1, 22,
       "[0].tags[0]", "a word or two"},
      {"text twice", R"([{"text":"a","text":"b"}])", 1, 0, "", "not a JSON array"},
      {"not UTF-8", "[{\"text\":\"\xff\"}]", 1, 0, "", "not a JSON array"},
  };
  for (const Row& row : rows) {
    SUBCASE(row.name) {
      const auto taken = parse_extraction_answer(row.answer);
      REQUIRE_FALSE(taken.has_value());
      const Error& error = taken.error();
      CHECK(error.code == ErrorCode::E_INVALID_FORMAT);
      CHECK(error.line == row.line);
      if (row.column != 0) {
        CHECK(error.column == row.column);
      }
      if (!row.field.empty()) {
        CHECK(error.field == row.field);
      }
      CHECK(error.message.find(row.says) != std::string::npos);
      CHECK(error.message.ends_with("nothing was stored"));
    }
  }
  const auto huge = parse_extraction_answer("[" + std::string(70'000, ' ') + "]");
  REQUIRE_FALSE(huge.has_value());
  CHECK(huge.error().code == ErrorCode::E_INVALID_FORMAT);
}

}  // namespace bmad_mem::test::extraction_answer_test
