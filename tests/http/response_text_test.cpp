#include <string>

#include <doctest/doctest.h>

#include "http/http_message.hpp"

namespace bmad_mem::test::response_text_test {
using namespace bmad_mem::cli;  // NOLINT(google-build-using-namespace): a test speaks its language.

TEST_CASE("a header can't break out of its line") {
  HttpResponse response;
  response.headers = {{"content-disposition", "attachment; filename=\"a\r\nset-cookie: b\""}};
  const std::string head = response_head(response);
  CHECK(head.find("\r\nset-cookie") == std::string::npos);
  CHECK(head.find("filename=\"a__set-cookie: b\"\r\n") != std::string::npos);
}

TEST_CASE("what a response says of keeping it stands alone") {
  HttpResponse response;
  CHECK(response_head(response).find("cache-control: no-store\r\n") != std::string::npos);
  response.headers = {{"cache-control", "no-cache"}};
  const std::string head = response_head(response);
  CHECK(head.find("no-store") == std::string::npos);
  CHECK(head.find("cache-control: no-cache\r\n") != std::string::npos);
}

TEST_CASE("the end of a body is told in one way") {
  HttpResponse response;
  response.body = "hello";
  const auto head = [&](BodyFraming framing) { return response_head(response, framing); };
  CHECK(head(BodyFraming::kLength).find("content-length: 5\r\n") != std::string::npos);
  CHECK(head(BodyFraming::kChunked).find("transfer-encoding: chunked\r\n") != std::string::npos);
  CHECK(head(BodyFraming::kChunked).find("content-length") == std::string::npos);
  CHECK(head(BodyFraming::kUntilEnd).find("content-length") == std::string::npos);
  CHECK(head(BodyFraming::kNone).find("content-length") == std::string::npos);
  CHECK(chunk("hello world!1234") == "10\r\nhello world!1234\r\n");
}

}  // namespace bmad_mem::test::response_text_test
