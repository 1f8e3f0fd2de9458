#include <algorithm>

#include <doctest/doctest.h>

#include "http/api_fixture.hpp"
#include "http/endpoint.hpp"
#include "mcp/memory_tools.hpp"

namespace bmad_mem::cli::test::router_test {
namespace {

TEST_CASE("a request finds its endpoint by path and method") {
  ApiFixture api;
  CHECK(api.get("/memory/sessions").status == 200);
  CHECK(api.get("/memory/nothing").status == 404);
  CHECK(api.get("/memory/nothing").code() == "not_found");
  CHECK(api.get("/memory/sessions/").status == 404);
  CHECK(api.get("/memory/record//history").status == 404);
  CHECK(api.get("/memory/record/a/b").status == 404);

  const Answer wrong = api.request("PUT", "/memory/record/dec-1");
  CHECK(wrong.status == 405);
  CHECK(wrong.code() == "method_not_allowed");
  const auto allow = std::ranges::find(wrong.response.headers, "allow", &HttpField::name);
  REQUIRE(allow != wrong.response.headers.end());
  CHECK(allow->value == "GET, PATCH, DELETE");
}

TEST_CASE("what a parameter can't be is refused before anything runs") {
  ApiFixture api;
  struct Row {
    std::string_view target;
    std::string_view field;
    std::string_view says;
  };
  static constexpr Row kRows[] = {
      {"/memory/search?sesion_id=s1", "sesion_id", "did you mean \"session_id\"?"},
      {"/memory/search?zzzzzzz=1", "zzzzzzz", "there are: q, k, offset, counts, type"},
      {"/memory/health?limit=1", "limit", "nothing is taken here"},
      {"/memory/search?k=0", "k", "from 1 to 200"},
      {"/memory/search?k=5x", "k", "whole number"},
      {"/memory/search?k=", "k", "whole number"},
      {"/memory/search?k=99999999999999999999", "k", "whole number"},
      {"/memory/search?k=1&k=2", "k", "given twice"},
      {"/memory/search?since=whenever", "since", "is not a time"},
      {"/memory/search?pinned=yes", "pinned", "true or false"},
      {"/memory/search?min_score=1.5", "min_score", "from 0 to 1"},
      {"/memory/search?min_score=nan", "min_score", "from 0 to 1"},
      {"/memory/search?type=decison", "type", "decision"},
      {"/memory/search?sort=best", "sort", "relevance, newest, oldest"},
      {"/memory/search?session_id=", "session_id", "it is empty"},
      {"/memory/search?since=2026-02-01&until=2026-01-01", "until", "before it begins"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.target);
    const Answer answer = api.get(row.target);
    CHECK(answer.status == 400);
    CHECK(answer.code() == "E_INVALID_QUERY");
    CHECK(answer.field() == row.field);
    CHECK(answer.json["error"]["message"].string().find(row.says) != std::string_view::npos);
  }
  const Answer missing = api.post("/memory/summarize", "");
  CHECK(missing.status == 400);
  CHECK(missing.field() == "session_id");
}

TEST_CASE("a mistake in the words of a search names q and the column in it") {
  ApiFixture api;
  const Answer answer = api.get("/memory/search?topic=a&q=pool type:x");
  CHECK(answer.status == 400);
  CHECK(answer.field() == "q");
  CHECK(answer.json["error"]["column"].integer() == 11);
  CHECK(api.get("/memory/search?q=pool stauts:open").field() == "q");
  const Answer bad_field = api.get("/memory/search?field=stauts:open");
  CHECK(bad_field.status == 400);
  CHECK(bad_field.field() == "field");
  CHECK(bad_field.body.find("did you mean status?") != std::string::npos);
}

TEST_CASE("a search takes any words and says what it read as such") {
  ApiFixture api;
  const Answer answer = api.get("/memory/search?q=pool - *.tmp \"open");
  CHECK(answer.status == 200);
  CHECK((*answer.json["as_prose"].elements().begin())["text"].string() == "-");
  CHECK((*answer.json["notes"].elements().begin()).string() ==
        "read \"-\" as a word: it stands alone");
}

TEST_CASE("a body is an object, and has nothing that nobody reads") {
  ApiFixture api;
  api.make_session("s1");
  CHECK(api.post("/memory/pin", "[]").status == 400);
  CHECK(api.post("/memory/pin", "{").code() == "E_INVALID_FORMAT");
  CHECK(api.post("/memory/pin", R"({"idd":"x"})").field() == "idd");
  CHECK(api.post("/memory/pin", R"({"id":5})").field() == "id");
  CHECK(api.post("/memory/sessions/s1/close", R"({"now":true})").field() == "now");
  CHECK(api.post("/memory/sessions/s1/close", "").status == 200);
  CHECK(api.post("/memory/sessions/s1/close", "{}").status == 200);
}

TEST_CASE("each code of the engine has its status") {
  struct Row {
    ErrorCode code;
    std::uint16_t status;
  };
  static constexpr Row kRows[] = {
      {ErrorCode::E_INVALID_QUERY, 400},     {ErrorCode::E_INVALID_FORMAT, 400},
      {ErrorCode::E_SCHEMA_INVALID, 400},    {ErrorCode::E_ACCESS_DENIED, 403},
      {ErrorCode::E_SESSION_NOT_FOUND, 404}, {ErrorCode::E_CONCURRENT_MOD, 409},
      {ErrorCode::E_SESSION_ARCHIVED, 409},  {ErrorCode::E_SIZE_LIMIT, 413},
      {ErrorCode::E_LOCK_TIMEOUT, 503},      {ErrorCode::E_QUERY_TIMEOUT, 504},
      {ErrorCode::E_STORAGE_FULL, 507},      {ErrorCode::E_STORAGE_IO, 500},
      {ErrorCode::E_STORAGE_CORRUPT, 500},   {ErrorCode::E_SESSION_CORRUPT, 500},
      {ErrorCode::E_RESOURCE_LIMIT, 503},    {ErrorCode::E_NEWER_VERSION, 409},
      {ErrorCode::E_HUB_AWAY, 503},          {ErrorCode::E_HUB_FULL, 507},
      {ErrorCode::E_HUB_VERSION, 409},       {ErrorCode::E_ENTRY_NOT_FOUND, 404},
      {ErrorCode::E_HUB_NOT_FOUND, 404},     {ErrorCode::E_KEY_NOT_FOUND, 404},
  };
  static_assert(std::size(kRows) == kErrorCodeCount);
  for (const Row& row : kRows) {
    CHECK(answer_to(row.code).http_status == row.status);
  }
  const HttpResponse busy =
      failure_response({.code = ErrorCode::E_LOCK_TIMEOUT, .message = "wait", .line = 3});
  CHECK(busy.body == R"({"error":{"code":"E_LOCK_TIMEOUT","message":"wait","line":3}})");
  REQUIRE(busy.headers.size() == 1);
  CHECK(busy.headers[0].name == "Retry-After");
}

TEST_CASE("every answer says how long it took") {
  ApiFixture api;
  const Answer answer = api.get("/memory/stats");
  CHECK(answer.status == 200);
  CHECK(answer.json["took_ms"].is_number());
  CHECK(answer.json["took_ms"].number() >= 0);
}

}  // namespace
}  // namespace bmad_mem::cli::test::router_test
