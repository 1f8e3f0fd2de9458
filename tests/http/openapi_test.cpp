#include <set>
#include <string>

#include <doctest/doctest.h>

#include "http/api_fixture.hpp"
#include "http/endpoint.hpp"

namespace bmad_mem::cli::test::openapi_test {
namespace {

TEST_CASE("the description has every endpoint of the table, and each name once") {
  ApiFixture api;
  CHECK(is_api_path("/openapi.json"));
  const Answer answer = api.get("/openapi.json");
  CHECK(answer.status == 200);
  CHECK(answer.json["openapi"].string() == "3.1.0");
  CHECK_FALSE(answer.json["took_ms"].present());
  const JsonValue schemas = answer.json["components"]["schemas"];
  std::set<std::string> names;
  for (const Endpoint& endpoint : all_endpoints()) {
    CAPTURE(endpoint.path);
    std::string method(endpoint.method);
    for (char& c : method) {
      c = static_cast<char>(c - 'A' + 'a');
    }
    const JsonValue operation = answer.json["paths"][endpoint.path][method];
    REQUIRE(operation.is_object());
    CHECK(names.emplace(operation["operationId"].string()).second);
    CHECK(operation["summary"].string().ends_with('.'));
  }
  constexpr std::string_view kReference = "#/components/schemas/";
  for (std::size_t at = answer.body.find(kReference); at != std::string::npos;
       at = answer.body.find(kReference, at + 1)) {
    const std::size_t begin = at + kReference.size();
    const std::string name = answer.body.substr(begin, answer.body.find('"', begin) - begin);
    CAPTURE(name);
    CHECK(schemas[name].is_object());
  }
  for (const std::string_view path :
       {"/memory/events", "/mcp", "/auth/session", "/auth/link", "/openapi.json"}) {
    CHECK(answer.json["paths"][path].is_object());
  }
  CHECK(api.post("/openapi.json", "").status == 405);
}

}  // namespace
}  // namespace bmad_mem::cli::test::openapi_test
