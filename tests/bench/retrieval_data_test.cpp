#include "retrieval_data.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "support/temporary_directory.hpp"

using namespace bmad_mem;
using namespace bmad_mem::bench;

namespace {

constexpr const char* kMessage = R"({"store":"s","id":"1","text":"hello"})";
constexpr const char* kQuestion = R"({"store":"s","id":"q1","text":"who?","relevant":["1"]})";

/// A data folder with these two files.
struct DataFolder {
  DataFolder(const std::string& corpus, const std::string& queries) {
    folder.write("corpus.jsonl", corpus);
    folder.write("queries.jsonl", queries);
  }
  RetrievalData read() const { return read_retrieval_data(folder.path()); }
  Error error() const {
    try {
      read();
    } catch (const Error& error) {
      return error;
    }
    FAIL("it was read");
    return {};
  }

  test::TemporaryDirectory folder;
};

std::string time_text(const std::string& json) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse("{\"ts\":" + json + "}");
  REQUIRE(value);
  const std::optional<Timestamp> time = lenient_time((*value)["ts"]);
  return time ? format_rfc3339(*time) : "nothing";
}

}  // namespace

TEST_CASE("every field is read, and unknown ones are passed over") {
  const DataFolder files(
      R"({"store":"s","id":"D1:1","seq":3,"ts":"2023-05-08T13:56:00","speaker":"Ann",)"
      R"("session":"S1","text":"Hello!","mood":{"good":[1,2]}})"
      "\n",
      R"({"store":"s","id":"q1","text":"Who?","category":"people","ts":"2023-06-01T00:00:00Z",)"
      R"("relevant":["D1:1","D1:1"],"split":"dev"})"
      "\n");
  const RetrievalData data = files.read();
  REQUIRE(data.stores.size() == 1);
  REQUIRE(data.stores[0].messages.size() == 1);
  const Message& message = data.stores[0].messages[0];
  CHECK(data.stores[0].name == "s");
  CHECK(message.id == "D1:1");
  CHECK(message.sequence == 3);
  CHECK(format_rfc3339(*message.time) == "2023-05-08T13:56:00Z");
  CHECK(message.speaker == "Ann");
  CHECK(message.session == "S1");
  CHECK(message.text == "Hello!");
  REQUIRE(data.questions.size() == 1);
  const Question& question = data.questions[0];
  CHECK(question.category == "people");
  CHECK(format_rfc3339(*question.time) == "2023-06-01T00:00:00Z");
  CHECK(question.relevant == std::vector<std::string>{"D1:1"});
  CHECK(data.warnings.empty());
}

TEST_CASE("what is missing is empty, and numbers may be ids") {
  const DataFolder files("\xEF\xBB\xBF{\"id\":17,\"text\":\"a\",\"speaker\":null}\r\n\n  \n",
                         R"({"id":"q","text":"b","relevant":[17]})");
  const RetrievalData data = files.read();
  REQUIRE(data.stores.size() == 1);
  const Message& message = data.stores[0].messages[0];
  CHECK(message.id == "17");
  CHECK(message.speaker.empty());
  CHECK(message.session.empty());
  CHECK_FALSE(message.time);
  CHECK(data.questions[0].relevant == std::vector<std::string>{"17"});
  CHECK(data.warnings.empty());
}

TEST_CASE("messages stand in the order of seq where all have one") {
  const std::string shuffled = R"({"id":"b","seq":2,"text":"x"})"
                               "\n"
                               R"({"id":"a","seq":1,"text":"x"})"
                               "\n";
  const RetrievalData by_sequence = DataFolder(shuffled, kQuestion).read();
  CHECK(by_sequence.stores[0].messages[0].id == "a");
  const RetrievalData as_written =
      DataFolder(shuffled + R"({"id":"0","text":"x"})", kQuestion).read();
  CHECK(as_written.stores[0].messages[0].id == "b");
}

TEST_CASE("a bad line is named by file and line") {
  struct Case {
    const char* name;
    const char* line;
    const char* field;
  };
  static constexpr Case kCases[] = {
      {"no JSON", "{\"id\":", ""},
      {"no object", "[1]", ""},
      {"no id", R"({"text":"x"})", "id"},
      {"an empty id", R"({"id":"","text":"x"})", "id"},
      {"an id that is a list", R"({"id":[1],"text":"x"})", "id"},
      {"no text", R"({"id":"x"})", "text"},
      {"a text that is a number", R"({"id":"x","text":5})", "text"},
      {"a speaker that is an object", R"({"id":"x","text":"x","speaker":{}})", "speaker"},
  };
  for (const Case& row : kCases) {
    SUBCASE(row.name) {
      const DataFolder files(std::string(kMessage) + "\n\n" + row.line + "\n", kQuestion);
      const Error error = files.error();
      CHECK(error.code == ErrorCode::E_INVALID_FORMAT);
      CHECK(error.path == files.folder.path("corpus.jsonl"));
      CHECK(error.line == 3);
      if (*row.field != '\0') {
        CHECK(error.field == row.field);
      }
    }
  }
}

TEST_CASE("a bad question is named by file and line") {
  const DataFolder files(kMessage, R"({"id":"q","text":"x","relevant":"1"})");
  const Error error = files.error();
  CHECK(error.path == files.folder.path("queries.jsonl"));
  CHECK(error.line == 1);
  CHECK(error.field == "relevant");
}

TEST_CASE("a file that is not there is an error") {
  const DataFolder files(kMessage, kQuestion);
  std::filesystem::remove(files.folder.path("corpus.jsonl"));
  const Error error = files.error();
  CHECK(error.code == ErrorCode::E_STORAGE_IO);
  CHECK(error.path == files.folder.path("corpus.jsonl"));
}

TEST_CASE("what no ranking can answer is said") {
  const DataFolder files(kMessage, R"({"store":"s","id":"a","text":"x","relevant":["1","2"]})"
                                   "\n"
                                   R"({"store":"t","id":"b","text":"x","relevant":["1"]})"
                                   "\n");
  const RetrievalData data = files.read();
  REQUIRE(data.warnings.size() == 1);
  CHECK(data.warnings[0].contains("2 relevant ids are no messages"));
}

TEST_CASE("times are read as data sets write them") {
  CHECK(time_text(R"("2023-05-08T13:56:00")") == "2023-05-08T13:56:00Z");
  CHECK(time_text(R"("2023-05-08T13:56:00Z")") == "2023-05-08T13:56:00Z");
  CHECK(time_text(R"("2023-05-08T13:56:00+02:00")") == "2023-05-08T11:56:00Z");
  CHECK(time_text(R"("2023-05-08 13:56:00.25")") == "2023-05-08T13:56:00.250Z");
  CHECK(time_text(R"("2023-05-08")") == "2023-05-08T00:00:00Z");
  CHECK(time_text("1683554160") == "2023-05-08T13:56:00Z");
  CHECK(time_text("1683554160000") == "2023-05-08T13:56:00Z");
  CHECK(time_text(R"("")") == "nothing");
  CHECK(time_text(R"("yesterday")") == "nothing");
  CHECK(time_text("-5") == "nothing");
  CHECK(time_text("1e300") == "nothing");
  CHECK(time_text("null") == "nothing");
}

TEST_CASE("times that cannot be read are counted and passed over") {
  const DataFolder files(R"({"store":"s","id":"1","text":"x","ts":"1:56 pm on 8 May, 2023"})",
                         kQuestion);
  const RetrievalData data = files.read();
  REQUIRE(data.warnings.size() == 1);
  CHECK(data.warnings[0].contains("corpus.jsonl:1: 1 times cannot be read"));
}

TEST_CASE("a slip swaps two letters inside the rarest word that is known") {
  const MessageStore store = {
      .name = "",
      .messages = {{.id = "1", .text = "The harbour has a bell of bronze, and a bell of brass."},
                   {.id = "2", .text = "The Harbour is closed; nobody rings."},
                   {.id = "3", .text = "oooo zzzo v2beta caf\xC3\xA9s"}}};
  const SlipMaker slips(store);
  struct Row {
    const char* name;
    const char* question;
    const char* slipped;
  };
  static constexpr Row kRows[] = {
      {"the rarest", "Which harbour has bronze?", "Which harbour has brnoze?"},
      {"case is kept", "Closed HARBOUR", "Clsoed HARBOUR"},
      {"the longer of two", "rings of bronze", "rings of brnoze"},
      {"the first of equals", "brass rings", "barss rings"},
      {"the second letter of four", "a bell", "a blel"},
      {"never the first letter", "zzzo", "zzoz"},
      {"nothing to swap", "oooo", "oooo"},
      {"no word is known", "why not granite", "why not granite"},
      {"no part of an identifier", "v2beta", "v2beta"},
      {"nor of a word with accents", "caf\xC3\xA9s", "caf\xC3\xA9s"},
      {"short words", "has a", "has a"},
      {"nothing", "", ""},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    CHECK(slips.slipped(row.question) == row.slipped);
  }
}
