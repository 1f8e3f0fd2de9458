#include "http/request_reader.hpp"

#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace bmad_mem::test::request_reader_test {
namespace {

using namespace bmad_mem::cli;  // NOLINT(google-build-using-namespace): a test speaks its language.
using State = RequestReader::State;

constexpr std::uint16_t kPort = 4321;
constexpr std::size_t kBodyMax = 100;

/// What became of `bytes`, given `step` at a time: "200 METHOD PATH BODY", or the refusal's status.
std::string read(std::string_view bytes, std::size_t step = std::string_view::npos,
                 const RequestLimits& limits = {}) {
  RequestReader reader(limits, kPort);
  std::string waiting;
  while (reader.state() != State::kDone && reader.state() != State::kRefused) {
    if (reader.state() == State::kHeadDone) {
      reader.take_body(kBodyMax);
      continue;
    }
    const std::size_t used = reader.take(waiting);
    waiting.erase(0, used);
    if (used == 0 && reader.state() != State::kHeadDone && reader.state() != State::kRefused) {
      if (bytes.empty()) {
        return "unfinished";
      }
      waiting += bytes.substr(0, step);
      bytes.remove_prefix(std::min(bytes.size(), step));
    }
  }
  if (reader.state() == State::kRefused) {
    return std::to_string(reader.take_refusal().status);
  }
  const HttpRequest request = reader.take_request();
  return "200 " + request.method + " " + request.path + " " + request.body;
}

const std::string kHost = "Host: localhost:4321\r\n";

}  // namespace

TEST_CASE("a request is the same in whatever pieces it comes") {
  const std::string get = "GET /memory/search?q=a HTTP/1.1\r\n" + kHost + "\r\n";
  const std::string post = "POST /x HTTP/1.1\r\n" + kHost + "Content-Length: 5\r\n\r\nhello";
  const std::string chunks = "POST /x HTTP/1.1\r\n" + kHost +
                             "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
  for (const std::size_t step : {1U, 2U, 3U, 7U, 64U, 10'000U}) {
    CAPTURE(step);
    CHECK(read(get, step) == "200 GET /memory/search ");
    CHECK(read(post, step) == "200 POST /x hello");
    CHECK(read(chunks, step) == "200 POST /x hello");
  }
}

TEST_CASE("paths and parameters are decoded") {
  RequestReader reader({}, kPort);
  reader.take("GET /a%20b/%C3%A9?q=x%26y+z&k=&flag&q=2 HTTP/1.1\r\n" + kHost + "X-Y:  Z \r\n\r\n");
  REQUIRE(reader.state() == State::kHeadDone);
  const HttpRequest& head = reader.head();
  CHECK(head.path == "/a b/é");
  REQUIRE(head.query.size() == 4);
  CHECK(head.query[0].value == "x&y z");
  CHECK(head.query[1].value.empty());
  CHECK(head.query[2].name == "flag");
  CHECK(head.query[3].value == "2");
  CHECK(head.header("x-y") == "Z");
  CHECK(head.port == kPort);
}

TEST_CASE("what is no proper request is refused") {
  struct Row {
    const char* name;
    std::string request;
    std::string status;
  };
  const std::string post = "POST / HTTP/1.1\r\n" + kHost;
  const Row rows[] = {
      {"no host", "GET / HTTP/1.1\r\n\r\n", "400"},
      {"two hosts", "GET / HTTP/1.1\r\n" + kHost + kHost + "\r\n", "400"},
      {"two tokens", "GET / HTTP/1.1\r\n" + kHost + "Authorization: a\r\nAuthorization: a\r\n\r\n",
       "400"},
      {"a folded line", "GET / HTTP/1.1\r\n" + kHost + "X: a\r\n b\r\n\r\n", "400"},
      {"a line folded by a tab", "GET / HTTP/1.1\r\n" + kHost + "X: a\r\n\tb\r\n\r\n", "400"},
      {"a folded host", "GET / HTTP/1.1\r\nHost:\r\n localhost:4321\r\n\r\n", "400"},
      {"a first line that is folded", "GET / HTTP/1.1\r\n X: a\r\n" + kHost + "\r\n", "400"},
      {"a folded last line", "GET / HTTP/1.1\r\n" + kHost + "X: a\r\n \r\n\r\n", "400"},
      {"a list of lengths", post + "Content-Length: 1, 1\r\n\r\na", "400"},
      {"HTTP/1.0 without host", "GET / HTTP/1.0\r\n\r\n", "200 GET / "},
      {"HTTP/2", "GET / HTTP/2.0\r\n" + kHost + "\r\n", "505"},
      {"a bare line feed", "GET / HTTP/1.1\nHost: localhost:4321\n\n", "400"},
      {"a blank before the colon", "GET / HTTP/1.1\r\nHost : localhost:4321\r\n\r\n", "400"},
      {"no path", "GET evil HTTP/1.1\r\n" + kHost + "\r\n", "400"},
      {"our own address", "GET http://localhost:4321/x HTTP/1.1\r\n" + kHost + "\r\n",
       "200 GET /x "},
      {"another one's", "GET http://evil/x HTTP/1.1\r\n" + kHost + "\r\n", "400"},
      {"broken escape", "GET /%2 HTTP/1.1\r\n" + kHost + "\r\n", "400"},
      {"NUL", "GET /%00 HTTP/1.1\r\n" + kHost + "\r\n", "400"},
      {"no UTF-8", "GET /%ff HTTP/1.1\r\n" + kHost + "\r\n", "400"},
      {"two lengths", post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", "400"},
      {"length and chunks",
       post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
      {"chunks and length",
       post + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n", "400"},
      {"another coding", post + "Transfer-Encoding: gzip\r\n\r\n", "501"},
      {"two codings", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "501"},
      {"a negative length", post + "Content-Length: -1\r\n\r\n", "400"},
      {"a chunk without a size", post + "Transfer-Encoding: chunked\r\n\r\nx\r\n", "400"},
      {"a body too large", post + "Content-Length: 101\r\n\r\n", "413"},
      {"a chunk too large",
       post + "Transfer-Encoding: chunked\r\n\r\n65\r\n" + std::string(101, 'a') + "\r\n0\r\n\r\n",
       "413"},
      {"chunks too large together",
       post + "Transfer-Encoding: chunked\r\n\r\n40\r\n" + std::string(64, 'a') + "\r\n40\r\n" +
           std::string(64, 'a') + "\r\n0\r\n\r\n",
       "413"},
      {"an expectation", post + "Expect: tea\r\nContent-Length: 1\r\n\r\na", "417"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(read(row.request) == row.status);
    CHECK(read(row.request, 1) == row.status);
  }
}

TEST_CASE("a head has limits") {
  const RequestLimits limits{
      .head_size_max = 500, .fields_max = 5, .target_size_max = 200, .path_size_max = 100};
  const auto get = [&](const std::string& target, const std::string& headers) {
    return read("GET " + target + " HTTP/1.1\r\n" + kHost + headers + "\r\n", 10, limits);
  };
  CHECK(get("/" + std::string(99, 'a'), "") == "200 GET /" + std::string(99, 'a') + " ");
  CHECK(get("/" + std::string(100, 'a'), "") == "414");
  CHECK(get("/?" + std::string(199, 'a'), "") == "414");
  CHECK(get("/?" + std::string(10'000, 'a'), "") == "414");
  CHECK(get("/", "A: b\r\nA: b\r\nA: b\r\nA: b\r\n") == "200 GET / ");
  CHECK(get("/", "A: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\n") == "431");
  CHECK(get("/", "A: " + std::string(500, 'b') + "\r\n") == "431");
}

TEST_CASE("HEAD is GET to who answers it") {
  RequestReader reader({}, kPort);
  reader.take("HEAD / HTTP/1.1\r\n" + kHost + "\r\n");
  CHECK(reader.head().method == "GET");
  CHECK(reader.is_head_method());
  CHECK(reader.keeps_alive());
}

TEST_CASE("what stands behind a request is left for the next one") {
  const std::string first = "POST /a HTTP/1.1\r\n" + kHost + "Content-Length: 2\r\n\r\n{}";
  const std::string both = first + "GET /b HTTP/1.1\r\n" + kHost + "\r\n";
  RequestReader reader({}, kPort);
  std::size_t used = reader.take(both);
  reader.take_body(kBodyMax);
  used += reader.take(std::string_view(both).substr(used));
  CHECK(reader.state() == State::kDone);
  CHECK(used == first.size());
}

}  // namespace bmad_mem::test::request_reader_test
