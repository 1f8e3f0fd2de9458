#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "encoder/external/external_encoder.hpp"
#include "encoder/text_encoder.hpp"

namespace bmad_mem::test::vector_answers_test {
namespace {

using Texts = std::vector<std::string>;

struct Row {
  const char* what;
  std::string answer;
  const char* message;
};

std::string server(const std::string& data) { return fmt::format(R"({{"data":[{}]}})", data); }

}  // namespace

TEST_CASE("a program is asked a line for each text, a server with a list") {
  const Texts texts{"one\n\"two\"", "ü"};
  CHECK(program_question(texts) == "{\"text\":\"one\\n\\\"two\\\"\"}\n{\"text\":\"ü\"}\n");
  CHECK(server_question(texts, "m") == R"({"model":"m","input":["one\n\"two\"","ü"]})");
  CHECK(server_question(texts, "") == R"({"input":["one\n\"two\"","ü"]})");
}

TEST_CASE("vectors come with length 1, in the order of the texts") {
  const Vectors program =
      program_vectors("{\"vector\":[3,4]}\n\n{\"id\":7,\"vector\":[0,-2e10]}", 2).value();
  CHECK(program.dimension == 2);
  CHECK(program.numbers == std::vector<float>{0.6F, 0.8F, 0, -1});
  const Vectors by_index =
      server_vectors(server(R"({"index":1,"embedding":[0,5]},{"index":0,"embedding":[2,0]})"), 2)
          .value();
  CHECK(by_index.numbers == std::vector<float>{1, 0, 0, 1});
  const Vectors by_place =
      server_vectors(server(R"({"embedding":[2,0]},{"embedding":[0,0]})"), 2).value();
  CHECK(by_place.numbers == std::vector<float>{1, 0, 0, 0});
}

TEST_CASE("a program's answer that is none is refused with its line") {
  std::string long_vector = R"({"vector":[1)";
  for (std::uint32_t i = 0; i < kDimensionMax; ++i) {
    long_vector += ",1";
  }
  const Row kRows[] = {
      {"nothing", "", "text 0 of 2 has no vector"},
      {"one of two", "{\"vector\":[1]}\n", "text 1 of 2 has no vector"},
      {"three of two", "{\"vector\":[1]}\n{\"vector\":[1]}\n{\"vector\":[1]}\n",
       "line 3: \"vector\" is of text 2, and there are 2, one vector for each"},
      {"no object", "[1,2]\n", "line 1: \"vector\" is not there, and not an array of numbers"},
      {"a string", R"({"vector":"1,2"})",
       "line 1: \"vector\" is a string, and not an array of numbers"},
      {"empty", R"({"vector":[]})", "line 1: \"vector\" is empty"},
      {"null in it", R"({"vector":[1,null]})", "line 1: \"vector\" has a value that is no number"},
      {"beyond a float", R"({"vector":[1,1e300]})",
       "line 1: \"vector\" has a value that is no number"},
      {"ragged", "{\"vector\":[1,2]}\n{\"vector\":[1]}",
       "line 2: \"vector\" has 1 numbers, and the one before it has 2"},
      {"too long", long_vector + "]}", "line 1: \"vector\" has more than 4096 numbers"},
      {"NaN", R"({"vector":[NaN]})", "line 1: "},
      {"cut", R"({"vector":[1,)", "line 1: "},
      {"a page", "<html>", "line 1: "},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.what);
    const Result<Vectors> vectors = program_vectors(row.answer, 2);
    REQUIRE_FALSE(vectors.has_value());
    CHECK(vectors.error().code == ErrorCode::E_INVALID_FORMAT);
    CHECK(vectors.error().message.starts_with(row.message));
  }
}

TEST_CASE("a server's answer that is none is refused with the place in it") {
  const Row kRows[] = {
      {"no data", R"({"error":"busy"})", "there is no array \"data\""},
      {"an array", "[]", "there is no array \"data\""},
      {"none", server(""), "text 0 of 2 has no vector"},
      {"one twice", server(R"({"index":0,"embedding":[1]},{"index":0,"embedding":[1]})"),
       "data[1].embedding is of text 0, and there are 2, one vector for each"},
      {"index too great", server(R"({"index":2,"embedding":[1]})"),
       "data[0].embedding is of text 2, and there are 2, one vector for each"},
      {"index is no number", server(R"({"index":"0","embedding":[1]})"),
       "data[0].index is no index"},
      {"base64", server(R"({"index":0,"embedding":"AACAPw=="})"),
       "data[0].embedding is a string, and not an array of numbers"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.what);
    const Result<Vectors> vectors = server_vectors(row.answer, 2);
    REQUIRE_FALSE(vectors.has_value());
    CHECK(vectors.error().message == row.message);
  }
}

TEST_CASE("a URL of this machine is taken apart") {
  struct Place {
    const char* url;
    std::vector<std::string> addresses;
    int port;
    const char* host;
    const char* target;
  };
  const Place kPlaces[] = {
      {"http://127.0.0.1:11434/v1/embeddings",
       {"127.0.0.1"},
       11434,
       "127.0.0.1:11434",
       "/v1/embeddings"},
      {"http://127.8.9.1/e?a=b", {"127.8.9.1"}, 80, "127.8.9.1", "/e?a=b"},
      {"http://[::1]:8080", {"::1"}, 8080, "[::1]:8080", "/"},
      {"http://[::1]?q", {"::1"}, 80, "[::1]", "/?q"},
      {"http://localhost:1/", {"127.0.0.1", "::1"}, 1, "localhost:1", "/"},
  };
  for (const Place& place : kPlaces) {
    CAPTURE(place.url);
    const HttpPlace found = http_place(place.url, false).value();
    CHECK(found.addresses == place.addresses);
    CHECK(found.port == place.port);
    CHECK(found.host == place.host);
    CHECK(found.target == place.target);
  }
}

TEST_CASE("a URL of another machine is refused unless the config allows it; others always are") {
  for (const char* url : {"http://192.168.1.5:11434/e", "http://0.0.0.0:1/", "http://8.8.8.8",
                          "http://[2001:db8::1]/", "http://[::ffff:127.0.0.1]/"}) {
    CAPTURE(url);
    const Result<HttpPlace> place = http_place(url, false);
    REQUIRE_FALSE(place.has_value());
    CHECK(place.error().code == ErrorCode::E_ACCESS_DENIED);
    CHECK(place.error().message.contains("another machine"));
    CHECK(http_place(url, true).has_value());
  }
  for (const char* url : {"",
                          "127.0.0.1:80",
                          "https://127.0.0.1/",
                          "ftp://127.0.0.1/",
                          "http://",
                          "http:///v1",
                          "http://example.com/v1",
                          "http://localhost.example.com/",
                          "http://127.1/",
                          "http://2130706433/",
                          "http://0x7f.0.0.1/",
                          "http://user@127.0.0.1/",
                          "http://127.0.0.1:80@8.8.8.8/",
                          "http://127.0.0.1:0/",
                          "http://127.0.0.1:65536/",
                          "http://127.0.0.1:8o/",
                          "http://127.0.0.1:/",
                          "http://127.0.0.1/a b",
                          "http://127.0.0.1/\r\nHost: x",
                          "http://127.0.0.1/#x",
                          "http://::1/",
                          "http://[127.0.0.1]/",
                          "http://[::1/",
                          "http://127.0.0.1\\@8.8.8.8/",
                          "http://127.0.0.1\xFF/"}) {
    CAPTURE(url);
    for (const bool takes_remote : {false, true}) {
      const Result<HttpPlace> place = http_place(url, takes_remote);
      REQUIRE_FALSE(place.has_value());
      CHECK(place.error().code == ErrorCode::E_INVALID_QUERY);
    }
  }
}

}  // namespace bmad_mem::test::vector_answers_test
