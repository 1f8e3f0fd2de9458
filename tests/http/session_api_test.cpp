// Sessions, their timelines, summaries and documents; knowledge and care.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "http/api_fixture.hpp"

namespace bmad_mem::cli::test::session_api_test {
namespace {

TEST_CASE("a session is made, closed, archived, restored and deleted") {
  ApiFixture api;
  const Answer made =
      api.post("/memory/sessions", R"({"session_id":"s1","agent_ids":["ann"],"tags":["t"]})");
  CHECK(made.status == 201);
  CHECK(api.post("/memory/sessions", R"({"session_id":"s1"})").status == 409);
  CHECK(api.post("/memory/sessions", R"({"sesion_id":"s1"})").field() == "sesion_id");
  CHECK(api.post("/memory/sessions", R"({"session_id":"a/b"})").status == 400);
  api.add("s1", EntryType::kFact, R"({"id":"fact-1","content":"F"})");

  const Answer detail = api.get("/memory/sessions/s1");
  CHECK(detail.json["session"]["state"].string() == "active");
  CHECK(detail.json["session"]["entries"].integer() == 1);
  CHECK(count(detail.json["statistics"]["types"]) == kEntryTypeCount);
  CHECK(detail.json["manifest"].is_object());

  CHECK(api.post("/memory/sessions/s1/close", "{}").json["closed_at"].is_string());
  CHECK(api.post("/memory/sessions/s1/archive", "{}").json["kept"].integer() == 1);
  const Answer list = api.get("/memory/sessions");
  CHECK(count(list.json["sessions"]) == 0);
  CHECK(count(list.json["archived"]) == 1);
  CHECK(api.post("/memory/sessions/s1/restore", "").json["session"]["session_id"].string() == "s1");
  CHECK(api.request("DELETE", "/memory/sessions/s1?dry_run=1").json["deleted"].integer() == 1);
  CHECK(api.request("DELETE", "/memory/sessions/s1").status == 200);
  CHECK(api.get("/memory/sessions/s1").status == 404);
  CHECK(api.post("/memory/sessions/s1/close", "").status == 404);
  CHECK(api.post("/memory/undelete", R"({"sessions":["s1"]})").status == 200);
  CHECK(api.get("/memory/sessions/s1").status == 200);
}

TEST_CASE("lists are given page by page") {
  ApiFixture api;
  for (const char* const id : {"s1", "s2", "s3"}) {
    api.make_session(id);
  }
  const Answer page = api.get("/memory/sessions?limit=1&offset=1");
  CHECK(count(page.json["sessions"]) == 1);
  CHECK(page.json["total"].integer() == 3);
  CHECK(count(api.get("/memory/sessions?offset=9").json["sessions"]) == 0);
  CHECK(count(api.get("/memory/sessions").json["sessions"]) == 3);
  for (int day = 1; day <= 3; ++day) {
    api.add("s1", EntryType::kFact,
            fmt::format(R"({{"id":"f{0}","timestamp":"2026-01-1{0}T10:00:00Z","content":"F{0}"}})",
                        day));
  }
  const auto ids = [&](const std::string& target, std::string_view list) {
    std::vector<std::string> all;
    const Answer answer = api.get(target);  // It holds what the values point to.
    for (const JsonValue entry : answer.json[list].elements()) {
      all.emplace_back(entry["id"].string());
    }
    return all;
  };
  CHECK(ids("/memory/entries?limit=1&offset=1", "entries") == std::vector<std::string>{"f2"});
  CHECK(ids("/memory/knowledge?limit=2&offset=2", "items").size() == 1);
  CHECK(count(api.get("/memory/timeline?limit=2&offset=2").json["buckets"]) == 1);
}

TEST_CASE("a session's timeline comes oldest first, page by page, with its density") {
  ApiFixture api;
  api.make_session("s1");
  for (const std::string_view minute : {"05", "10", "55"}) {
    api.add("s1", EntryType::kConversation,
            fmt::format(R"({{"id":"msg-{0}","timestamp":"2026-01-11T10:{0}:00Z","role":"user",)"
                        R"("content":"at {0}"}})",
                        minute));
  }
  api.add("s1", EntryType::kFact, R"({"id":"f","timestamp":"2026-01-11T12:00:00Z","content":"F"})");
  const Answer first = api.get("/memory/sessions/s1/timeline?limit=2");
  CHECK((*first.json["entries"].elements().begin())["id"].string() == "msg-05");
  CHECK(count(first.json["entries"]) == 2);
  CHECK(first.json["more"].boolean());
  CHECK(count(first.json["density"]) == 2);
  CHECK((*first.json["density"].elements().begin())["total"].integer() == 3);
  const Answer second = api.get("/memory/sessions/s1/timeline?limit=2&after=msg-10");
  CHECK((*second.json["entries"].elements().begin())["id"].string() == "msg-55");
  CHECK_FALSE(second.json["more"].boolean(true));
  CHECK(count(api.get("/memory/sessions/s1/timeline?type=fact").json["entries"]) == 1);
  CHECK(api.get("/memory/sessions/s1/timeline?after=nothing").field() == "after");
  CHECK(api.get("/memory/sessions/s9/timeline").status == 404);
}

TEST_CASE("looking at a summary makes none") {
  ApiFixture api;
  api.make_session("s1");
  const Answer none = api.get("/memory/sessions/s1/summary");
  CHECK_FALSE(none.json["exists"].boolean(true));
  CHECK(none.json["markdown"].string().empty());
  const std::string path = "memory/sessions/s1/summary.md";
  CHECK_FALSE(std::filesystem::exists(api.folder().path(path)));
  api.folder().write(path, "---\nkey: value\n---\n\n# Session Title\nLedger\n");
  const Answer some = api.get("/memory/sessions/s1/summary");
  CHECK(some.json["exists"].boolean());
  CHECK(some.json["markdown"].string() == "# Session Title\nLedger\n");
  CHECK(some.json["status"]["messages"].integer() == 0);
  CHECK(api.get("/memory/sessions/s9/summary").status == 404);
}

TEST_CASE("an artifact's document is read inside the session only") {
  ApiFixture api;
  api.make_session("s1");
  const Result<std::string> id =
      api.memory().add_artifact_document("s1", {.path = "a.md", .title = "A"}, "The text\n");
  REQUIRE(id);
  const Answer answer = api.get("/memory/sessions/s1/artifacts/" + *id);
  CHECK(answer.status == 200);
  CHECK(answer.response.content_type == "text/plain; charset=utf-8");
  CHECK(answer.body == "The text\n");

  api.add("s1", EntryType::kFact, R"({"id":"fact-1","content":"F"})");
  api.add("s1", EntryType::kArtifact, R"({"id":"art-none","path":"b.md","title":"B"})");
  api.add("s1", EntryType::kArtifact, R"({"id":"art-link","path":"c.md","title":"C"})");
  api.folder().write("secret", "secret");
  std::filesystem::create_symlink(api.folder().path("secret"),
                                  api.folder().path("memory/sessions/s1/artifacts/art-link.md"));
  for (const std::string_view name : {"fact-1", "art-none", "art-link", "..", "nothing"}) {
    CAPTURE(name);
    CHECK(api.get(fmt::format("/memory/sessions/s1/artifacts/{}", name)).status == 404);
  }
}

TEST_CASE("knowledge is stated, found, reviewed and told") {
  ApiFixture api;
  api.make_session("s1");
  const Answer told = api.post("/memory/knowledge",
                               R"({"category":"constraint","key":"rest","value":"Never REST"})");
  REQUIRE_MESSAGE(told.status == 201, told.body);
  CHECK(told.json["is_new"].boolean());
  const Answer other = api.post("/memory/knowledge",
                                R"({"category":"constraint","key":"rest","value":"REST is fine"})");
  CHECK(other.json["previous_value"].string() == "Never REST");
  const Answer items = api.get("/memory/knowledge?contradicted=true");
  REQUIRE(count(items.json["items"]) == 1);
  CHECK(count((*items.json["items"].elements().begin())["chain"]) == 2);
  CHECK(count(api.get("/memory/knowledge?category=style&category=constraint").json["items"]) == 1);
  CHECK(count(api.get("/memory/knowledge?category=rule").json["items"]) == 1);
  CHECK(count(api.get("/memory/knowledge?category=style").json["items"]) == 0);
  CHECK(api.get("/memory/knowledge?text=no+such+word").json["total"].integer() == 0);
  CHECK(api.get("/memory/knowledge?pinned=true").json["total"].integer() == 0);
  CHECK(api.get("/memory/knowledge?category=styl").field() == "category");
  CHECK(api.post("/memory/knowledge", R"({"category":"constraint"})").field() == "value");
  CHECK(api.post("/memory/knowledge", R"({"value":"x"})").field() == "category");

  api.add(
      "s1", EntryType::kConversation,
      R"({"id":"m1","role":"user","content":"I always prefer tabs over spaces in this project."})");
  const Answer found = api.post("/memory/summarize?session_id=s1", "{}");
  REQUIRE_MESSAGE(count(found.json["learned"]) > 0, found.body);
  const std::string id((*found.json["learned"].elements().begin())["id"].string());
  const Answer candidates = api.get("/memory/knowledge?candidates=true");
  REQUIRE(count(candidates.json["items"]) == 1);
  const JsonValue sources = (*candidates.json["items"].elements().begin())["references"];
  REQUIRE(count(sources) == 1);
  CHECK((*sources.elements().begin()).string() == "m1");
  const Answer reviewed = api.post("/memory/knowledge/review",
                                   fmt::format(R"({{"ids":["{}"],"review":"accepted"}})", id));
  CHECK_MESSAGE(count(reviewed.json["reviewed"]) == 1, reviewed.body);
  CHECK(api.post("/memory/knowledge/review", R"({"ids":["x"],"review":"accepted"})").status == 404);
  CHECK(api.post("/memory/knowledge/review", R"({"ids":["x"],"review":"maybe"})").field() ==
        "review");
  CHECK(api.get("/memory/context?task=rest").json["markdown"].string().find("REST is fine") !=
        std::string_view::npos);
}

TEST_CASE("care is a dry run unless told otherwise") {
  ApiFixture api;
  api.make_session("s1");
  api.add("s1", EntryType::kFact, R"({"id":"fact-1","content":"F"})");
  api.add("s1", EntryType::kFact, R"({"id":"fact-1","content":"G"})");
  const Answer dry = api.post("/memory/compact", R"({"keep_share":1})");
  CHECK(dry.json["dry_run"].boolean());
  CHECK((*dry.json["sessions"].elements().begin())["superseded"].integer() == 1);
  CHECK(count(api.get("/memory/record/fact-1/history").json["versions"]) == 2);
  const Answer real = api.post("/memory/compact", R"({"dry_run":false,"keep_share":1})");
  CHECK_FALSE(real.json["dry_run"].boolean(true));
  const Answer history = api.get("/memory/record/fact-1/history");
  REQUIRE(count(history.json["versions"]) == 2);
  CHECK((*history.json["versions"].elements().begin())["evicted"].boolean());

  api.request("DELETE", "/memory/record/fact-1");
  CHECK(count(api.post("/memory/purge", "").json["deletions"]) == 0);
  CHECK(count(api.post("/memory/purge", R"({"all":true})").json["deletions"]) == 1);
  CHECK(count(api.get("/memory/health").json["deletions"]) == 1);
  CHECK(api.post("/memory/purge", R"({"all":true,"dry_run":false})").status == 200);
  CHECK(count(api.get("/memory/health").json["deletions"]) == 0);
  CHECK(api.post("/memory/maintain", "").json["dry_run"].boolean());
  const Answer audit = api.get("/memory/audit?action=compact");
  CHECK(count(audit.json["records"]) == 1);
  CHECK(count(api.get("/memory/verify").json["findings"]) == 0);
  api.folder().write("memory/sessions/s1/facts.jsonl", "no json\n");
  CHECK(count(api.get("/memory/verify?session_id=s1").json["findings"]) == 1);
}

TEST_CASE("settings are the ones that hold") {
  ApiFixture api;
  const Answer answer = api.get("/memory/settings");
  CHECK(answer.json["settings"]["memory_config"].is_object());
  CHECK(answer.json["root"].string() == api.memory().root());
  CHECK(api.get("/memory/decay").json["curve"]["lines"].is_array());
}

}  // namespace
TEST_CASE("health says which hub this memory shares") {
  ApiFixture api;
  api.make_session("s1");
  CHECK_FALSE(api.get("/memory/health").json["hub"].present());
  std::filesystem::create_directories(api.folder().path("memory/hub"));
  api.folder().write("memory/hub/state.json",
                     R"({"version":1,"service":"team","project":"shop","replica":"r","cursor":7})");
  const Answer health = api.get("/memory/health");
  CHECK(health.json["hub"]["project"].string() == "shop");
  CHECK(health.json["hub"]["cursor"].integer() == 7);
  CHECK(health.json["hub"]["sessions_to_push"].integer() == 1);
}

}  // namespace bmad_mem::cli::test::session_api_test
