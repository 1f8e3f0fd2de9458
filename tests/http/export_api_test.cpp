#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "http/api_fixture.hpp"

namespace bmad_mem::cli::test::export_api_test {
namespace {

std::string header(const Answer& answer, std::string_view name) {
  for (const HttpField& field : answer.response.headers) {
    if (field.name == name) {
      return field.value;
    }
  }
  return {};
}

TEST_CASE("an export is written whole, in each format") {
  ApiFixture api;
  api.make_session("s1");
  // More than a piece.
  const std::string text(10'000, 'x');
  for (int i = 0; i < 20; ++i) {
    api.add("s1", EntryType::kFact, fmt::format(R"({{"id":"fact-{}","content":"{}"}})", i, text));
  }
  const Answer all = api.get("/memory/export");
  CHECK(all.status == 200);
  CHECK(all.response.content_type == "application/jsonl");
  CHECK(header(all, "Content-Disposition").ends_with(".jsonl\""));
  CHECK(header(all, "Unreadable-Lines").empty());
  CHECK(std::ranges::count(all.body, '\n') == 21);
  CHECK(all.body.size() > 200'000);
  for (const std::string_view format : {"json", "yaml", "markdown", "csv"}) {
    CAPTURE(format);
    const Answer answer = api.get(fmt::format("/memory/export?format={}", format));
    CHECK(answer.body.find("fact-19") != std::string::npos);
  }
  CHECK(api.get("/memory/export?type=decision").body.find("fact-") == std::string::npos);
  CHECK(api.get("/memory/export?session_id=s9").status == 404);
  CHECK(api.get("/memory/export?format=xml").field() == "format");
}

TEST_CASE("an export says how many lines can't be read") {
  ApiFixture api;
  api.make_session("s1");
  api.folder().write("memory/sessions/s1/facts.jsonl", "no json\n");
  CHECK(header(api.get("/memory/export"), "Unreadable-Lines") == "1");
  CHECK(header(api.get("/memory/export?session_id=s1"), "Unreadable-Lines") == "1");
}

TEST_CASE("an export ends when the client has gone") {
  class Gone final : public HttpBodyWriter {
   public:
    bool write(std::string_view /*piece*/) override { return false; }
  };
  ApiFixture api;
  api.make_session("s1");
  const Answer answer = api.get("/memory/export");
  Gone gone;
  CHECK_FALSE(answer.response.write_body(gone));
}

}  // namespace
}  // namespace bmad_mem::cli::test::export_api_test
