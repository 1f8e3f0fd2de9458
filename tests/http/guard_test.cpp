#include "http/guard.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace bmad_mem::test::guard_test {
namespace {

using namespace bmad_mem::cli;  // NOLINT(google-build-using-namespace): a test speaks its language.

constexpr std::uint16_t kPort = 4321;
const Access::Time kNow = Access::Time() + std::chrono::hours(100);

bool is_page(std::string_view path) { return path == "/" || path == "/app.css"; }

/// A guard and a client that knows the token.
struct House {
  Access access;
  Guard guard{access, is_page};
  std::string secret = *access.page_secret_for(access.new_code(kNow), kNow);
  std::string bearer = "Bearer " + access.token();

  /// The status of the refusal; 0 when the request may come in.
  [[nodiscard]] int ask(std::string_view method, std::string_view path,
                        std::vector<HttpField> headers) const {
    HttpRequest head;
    head.method = method;
    head.path = path;
    head.headers = std::move(headers);
    head.port = kPort;
    const auto refusal = guard.refusal(head, kNow);
    return refusal ? refusal->status : 0;
  }
};

const HttpField kHost{"host", "127.0.0.1:4321"};
const HttpField kJson{"content-type", "application/json"};
const HttpField kOrigin{"origin", "http://127.0.0.1:4321"};

}  // namespace

TEST_CASE("a host is one of our own names with our port") {
  const House house;
  struct Row {
    const char* host;
    int status;
  };
  for (const Row& row :
       {Row{"127.0.0.1:4321", 0}, Row{"localhost:4321", 0}, Row{"[::1]:4321", 0},
        Row{"LOCALHOST:4321", 0}, Row{"localhost", 421}, Row{"localhost:80", 421},
        Row{"localhost.:4321", 421}, Row{"localhost:04321", 421}, Row{"evil.example:4321", 421},
        Row{"127.0.0.1.evil:4321", 421}, Row{"0.0.0.0:4321", 421}, Row{"127.1:4321", 421},
        Row{"::1:4321", 421}, Row{"127.0.0.1:4321@evil", 421}, Row{"", 421}}) {
    CAPTURE(row.host);
    CHECK(house.ask("GET", "/", {{"host", row.host}}) == row.status);
  }
  CHECK(house.ask("GET", "/", {}) == 421);
  CHECK(house.ask("GET", "/", {kHost, kHost}) == 421);
}

TEST_CASE("an origin is absent or our own") {
  const House house;
  struct Row {
    const char* origin;
    int status;
  };
  for (const Row& row :
       {Row{"http://127.0.0.1:4321", 0}, Row{"http://localhost:4321", 0},
        Row{"http://[::1]:4321", 0}, Row{"https://127.0.0.1:4321", 403}, Row{"null", 403},
        Row{"", 403}, Row{"http://127.0.0.1:4322", 403}, Row{"http://evil.example", 403},
        Row{"http://127.0.0.1:4321.evil.example", 403}, Row{"http://127.0.0.1:4321/", 403}}) {
    CAPTURE(row.origin);
    CHECK(house.ask("GET", "/memory/stats",
                    {kHost, {"origin", row.origin}, {"authorization", house.bearer}}) ==
          row.status);
  }
}

TEST_CASE("a page of another site may lead to ours, and do nothing else") {
  const House house;
  const HttpField bearer{"authorization", house.bearer};
  for (const char* site : {"cross-site", "same-site"}) {
    CHECK(house.ask("GET", "/", {kHost, {"sec-fetch-site", site}}) == 403);
    CHECK(house.ask("GET", "/",
                    {kHost, {"sec-fetch-site", site}, {"sec-fetch-mode", "navigate"}}) == 0);
    CHECK(house.ask("GET", "/memory/stats",
                    {kHost, bearer, {"sec-fetch-site", site}, {"sec-fetch-mode", "navigate"}}) ==
          403);
  }
  for (const char* site : {"none", "same-origin"}) {
    CHECK(house.ask("GET", "/memory/stats", {kHost, bearer, {"sec-fetch-site", site}}) == 0);
  }
}

TEST_CASE("only five methods are known") {
  const House house;
  const HttpField bearer{"authorization", house.bearer};
  for (const char* method : {"OPTIONS", "PUT", "TRACE", "CONNECT", "get", "PROPFIND", ""}) {
    CAPTURE(method);
    CHECK(house.ask(method, "/", {kHost, bearer}) == 405);
  }
  for (const char* method : {"GET", "DELETE"}) {
    CHECK(house.ask(method, "/memory/record/x", {kHost, bearer}) == 0);
  }
}

TEST_CASE("a body is JSON") {
  const House house;
  const HttpField bearer{"authorization", house.bearer};
  const HttpField some{"content-length", "2"};
  struct Row {
    const char* type;
    int status;
  };
  for (const Row& row :
       {Row{"application/json", 0}, Row{"application/json; charset=utf-8", 0},
        Row{"Application/JSON;charset=UTF-8", 0}, Row{"application/json; charset=latin1", 415},
        Row{"text/plain", 415}, Row{"application/x-www-form-urlencoded", 415},
        Row{"multipart/form-data", 415}, Row{"application/jsonx", 415}, Row{"", 415}}) {
    CAPTURE(row.type);
    for (const char* method : {"POST", "PATCH", "DELETE"}) {
      CHECK(house.ask(method, "/memory/x", {kHost, bearer, some, {"content-type", row.type}}) ==
            row.status);
    }
  }
  CHECK(house.ask("POST", "/memory/x", {kHost, bearer}) == 415);
  CHECK(house.ask("DELETE", "/memory/x", {kHost, bearer}) == 0);
  CHECK(house.ask("DELETE", "/memory/x", {kHost, bearer, {"transfer-encoding", "chunked"}}) == 415);
}

TEST_CASE("the token opens all, and nothing else but a page's secret does") {
  const House house;
  struct Row {
    const char* name;
    std::vector<HttpField> headers;
    int status;
  };
  const std::string token = house.access.token();
  const std::vector<Row> rows = {
      {"token", {{"authorization", "Bearer " + token}}, 0},
      {"scheme in lower case", {{"authorization", "bearer " + token}}, 0},
      {"nothing", {}, 401},
      {"another token", {{"authorization", "Bearer x" + token}}, 401},
      {"half of it", {{"authorization", "Bearer " + token.substr(0, 20)}}, 401},
      {"another scheme", {{"authorization", "Basic " + token}}, 401},
      {"without scheme", {{"authorization", token}}, 401},
      {"as a cookie", {{"cookie", "bmad_mem_4321=" + token}}, 401},
      {"a page's secret", {{"authorization", "Bearer " + house.secret}}, 0},
      {"half of that", {{"authorization", "Bearer " + house.secret.substr(0, 20)}}, 401},
      {"that as a cookie", {{"cookie", "bmad_mem_4321=" + house.secret}}, 401},
      {"a cookie beside the token",
       {{"authorization", "Bearer " + token}, {"cookie", "bmad_mem_4321=x"}},
       0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    std::vector<HttpField> headers = row.headers;
    headers.push_back(kHost);
    CHECK(house.ask("GET", "/memory/stats", headers) == row.status);
  }
}

TEST_CASE("a page's secret writes from nowhere but its own page") {
  const House house;
  const HttpField secret{"authorization", "Bearer " + house.secret};
  CHECK(house.ask("POST", "/memory/pin", {kHost, kJson, secret}) == 0);
  CHECK(house.ask("POST", "/memory/pin", {kHost, kJson, secret, kOrigin}) == 0);
  CHECK(house.ask("POST", "/memory/pin",
                  {kHost, kJson, secret, {"origin", "http://127.0.0.1:4322"}}) == 403);
  CHECK(house.ask("POST", "/memory/pin", {kHost, kJson, secret, {"sec-fetch-site", "same-site"}}) ==
        403);
}

TEST_CASE("pages need no token to be read, and codes none to be exchanged") {
  const House house;
  CHECK(house.ask("GET", "/app.css", {kHost}) == 0);
  CHECK(house.ask("POST", "/", {kHost, kJson}) == 401);
  CHECK(house.ask("GET", "/openapi.json", {kHost}) == 401);
  CHECK(house.ask("POST", "/auth/session", {kHost, kJson, kOrigin}) == 0);
  CHECK(house.ask("POST", "/auth/session", {kHost, kJson}) == 403);
  CHECK(house.ask("POST", "/auth/session", {kHost, kOrigin}) == 415);
  CHECK(house.ask("GET", "/auth/session", {kHost}) == 401);
}

}  // namespace bmad_mem::test::guard_test
