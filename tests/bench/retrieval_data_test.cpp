#include "retrieval_data.hpp"

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
  Result<RetrievalData> read() const { return read_retrieval_data(folder.path()); }

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
  const Result<RetrievalData> data = files.read();
  REQUIRE(data);
  REQUIRE(data->stores.size() == 1);
  REQUIRE(data->stores[0].messages.size() == 1);
  const Message& message = data->stores[0].messages[0];
  CHECK(data->stores[0].name == "s");
  CHECK(message.id == "D1:1");
  CHECK(message.sequence == 3);
  CHECK(format_rfc3339(*message.time) == "2023-05-08T13:56:00Z");
  CHECK(message.speaker == "Ann");
  CHECK(message.session == "S1");
  CHECK(message.text == "Hello!");
  REQUIRE(data->questions.size() == 1);
  const Question& question = data->questions[0];
  CHECK(question.category == "people");
  CHECK(format_rfc3339(*question.time) == "2023-06-01T00:00:00Z");
  CHECK(question.relevant == std::vector<std::string>{"D1:1"});
  CHECK(data->warnings.empty());
}

TEST_CASE("what is missing is empty, and numbers may be ids") {
  const DataFolder files("\xEF\xBB\xBF{\"id\":17,\"text\":\"a\",\"speaker\":null}\r\n\n  \n",
                         R"({"id":"q","text":"b","relevant":[17]})");
  const Result<RetrievalData> data = files.read();
  REQUIRE(data);
  REQUIRE(data->stores.size() == 1);
  const Message& message = data->stores[0].messages[0];
  CHECK(message.id == "17");
  CHECK(message.speaker.empty());
  CHECK(message.session.empty());
  CHECK_FALSE(message.time);
  CHECK(data->questions[0].relevant == std::vector<std::string>{"17"});
  CHECK(data->warnings.empty());
}

TEST_CASE("messages stand in the order of seq where all have one") {
  const std::string shuffled = R"({"id":"b","seq":2,"text":"x"})"
                               "\n"
                               R"({"id":"a","seq":1,"text":"x"})"
                               "\n";
  const Result<RetrievalData> by_sequence = DataFolder(shuffled, kQuestion).read();
  REQUIRE(by_sequence);
  CHECK(by_sequence->stores[0].messages[0].id == "a");
  const Result<RetrievalData> as_written =
      DataFolder(shuffled + R"({"id":"0","text":"x"})", kQuestion).read();
  REQUIRE(as_written);
  CHECK(as_written->stores[0].messages[0].id == "b");
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
      const Result<RetrievalData> data = files.read();
      REQUIRE_FALSE(data);
      CHECK(data.error().code == ErrorCode::E_INVALID_FORMAT);
      CHECK(data.error().path == files.folder.path("corpus.jsonl"));
      CHECK(data.error().line == 3);
      if (*row.field != '\0') {
        CHECK(data.error().field == row.field);
      }
    }
  }
}

TEST_CASE("a bad question is named by file and line") {
  const DataFolder files(kMessage, R"({"id":"q","text":"x","relevant":"1"})");
  const Result<RetrievalData> data = files.read();
  REQUIRE_FALSE(data);
  CHECK(data.error().path == files.folder.path("queries.jsonl"));
  CHECK(data.error().line == 1);
  CHECK(data.error().field == "relevant");
}

TEST_CASE("a file that is not there is an error") {
  const test::TemporaryDirectory folder;
  const Result<RetrievalData> data = read_retrieval_data(folder.path());
  REQUIRE_FALSE(data);
  CHECK(data.error().code == ErrorCode::E_STORAGE_IO);
  CHECK(data.error().path == folder.path("corpus.jsonl"));
}

TEST_CASE("what no ranking can answer is said") {
  const DataFolder files(kMessage, R"({"store":"s","id":"a","text":"x","relevant":["1","2"]})"
                                   "\n"
                                   R"({"store":"t","id":"b","text":"x","relevant":["1"]})"
                                   "\n");
  const Result<RetrievalData> data = files.read();
  REQUIRE(data);
  REQUIRE(data->warnings.size() == 2);
  CHECK(data->warnings[0].find("1 questions are about stores without messages") !=
        std::string::npos);
  CHECK(data->warnings[1].find("1 relevant ids are no messages") != std::string::npos);
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
  const Result<RetrievalData> data = files.read();
  REQUIRE(data);
  REQUIRE(data->warnings.size() == 1);
  CHECK(data->warnings[0].find("1:56 pm on 8 May, 2023") != std::string::npos);
}
