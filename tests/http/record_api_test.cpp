// Writing: records, changes, pins, deleting and bringing back.
#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "http/api_fixture.hpp"

namespace bmad_mem::cli::test::record_api_test {
namespace {

TEST_CASE("what a specification calls prompt or tool_use becomes an entry of ours") {
  ApiFixture api;
  struct Row {
    std::string_view body;
    std::string_view log;
    std::string_view has;
  };
  static constexpr Row kRows[] = {
      {R"({"type":"prompt","session_id":"s1","content":"Hi"})", "conversation.jsonl",
       R"("role":"user","content":"Hi")"},
      {R"({"type":"assistant","session_id":"s1","content":"Hello"})", "conversation.jsonl",
       R"("role":"assistant","content":"Hello")"},
      {R"({"type":"tool_use","session_id":"s1","tool":"bash","path":"a.sh","workspace":"/p"})",
       "events.jsonl", R"("metadata":{"workspace":"/p"})"},
      {R"({"type":"tool_result","session_id":"s1","metadata":{"n": 1.00},"workspace":"/p"})",
       "events.jsonl", R"("metadata":{"n":1.00,"workspace":"/p"})"},
      {R"({"type":"approval","session_id":"s1","content":"yes"})", "events.jsonl",
       R"("kind":"approval")"},
      {R"({"type":"error","session_id":"s1","content":"no"})", "events.jsonl", R"("kind":"error")"},
      {R"({"type":"decisions","session_id":"s1","decision":"D","mine":{"a":[ 1e2 ]}})",
       "decisions.jsonl", R"("mine":{"a":[1e2]})"},
      {R"({"type":"fact","session_id":"s1","content":"F","ts":1768125600250})", "facts.jsonl",
       R"("timestamp":"2026-01-11T10:00:00.250Z")"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.body);
    const Answer answer = api.post("/memory/record", row.body);
    REQUIRE_MESSAGE(answer.status == 201, answer.body);
    CHECK(answer.json["session_id"].string() == "s1");  // Made by the first of them.
    const std::string line = api.last_line("s1", row.log);
    CHECK_MESSAGE(line.find(row.has) != std::string::npos, line);
    CHECK(line.find(answer.json["id"].string()) != std::string::npos);
    CHECK(line.find(answer.json["timestamp"].string()) != std::string::npos);
  }
}

TEST_CASE("what is stored with the scope of the user goes to the user's own memory") {
  ApiFixture api;
  const Answer fact = api.post("/memory/record?scope=user", R"({"type":"fact","content":"F"})");
  REQUIRE_MESSAGE(fact.status == 201, fact.body);
  CHECK(api.post("/memory/records?scope=user", R"({"type":"fact","entries":[{"content":"G"}]})")
            .status == 201);
  const Answer stated = api.post("/memory/knowledge?scope=user",
                                 R"({"category":"style","key":"commits","value":"Short"})");
  REQUIRE_MESSAGE(stated.status == 201, stated.body);
  const Result<MemoryManager*> users = api.users().to_read();
  REQUIRE(users);
  REQUIRE(*users != nullptr);
  CHECK((*users)->list({}).value().size() == 3);
  CHECK(api.memory().list({}).value().empty());
  CHECK(api.post("/memory/record?scope=project", R"({"type":"fact","content":"F"})").status == 201);
  CHECK(api.memory().list({}).value().size() == 1);
  const Answer wrong = api.post("/memory/record?scope=team", R"({"type":"fact","content":"F"})");
  CHECK(wrong.status == 400);
  CHECK(wrong.field() == "scope");
}

TEST_CASE("a record without a session goes to the open one that was written last") {
  ApiFixture api;
  const Answer first = api.post("/memory/record", R"({"type":"fact","content":"F"})");
  CHECK(first.status == 201);
  const std::string made(first.json["session_id"].string());
  CHECK(
      api.post("/memory/record", R"({"type":"fact","content":"G"})").json["session_id"].string() ==
      made);
  REQUIRE(api.memory().close_session(made));
  CHECK(
      api.post("/memory/record", R"({"type":"fact","content":"H"})").json["session_id"].string() !=
      made);
}

TEST_CASE("a record that can't be one is refused with the member that is wrong") {
  ApiFixture api;
  struct Row {
    std::string_view body;
    std::string_view field;
  };
  static constexpr Row kRows[] = {
      {R"({"content":"x"})", "type"},
      {R"({"type":"tool_us","content":"x"})", "type"},
      {R"({"type":"prompt","content":"x","role":"tool"})", "role"},
      {R"({"type":"fact","content":"x","ts":1,"timestamp":"2026-01-11T10:00:00Z"})", "timestamp"},
      {R"({"type":"fact","content":"x","ts":-1})", "ts"},
      {R"({"type":"fact","content":"x","ts":1.5})", "ts"},
      {R"({"type":"fact","content":"x","timestamp":"soon"})", "timestamp"},
      {R"({"type":"fact","content":"x","session_id":""})", "session_id"},
      {R"({"type":"tool_use","metadata":{"workspace":"a"},"workspace":"b"})", "metadata"},
      {R"({"type":"fact","content":""})", "content"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.body);
    const Answer answer = api.post("/memory/record", row.body);
    CHECK(answer.status == 400);
    CHECK(answer.field() == row.field);
  }
  CHECK(api.post("/memory/record", R"({"type":"fact","content":"x","session_id":"../x"})").status ==
        400);
}

TEST_CASE("a batch is written as a whole or not at all") {
  ApiFixture api;
  const Answer good =
      api.post("/memory/records", R"({"type":"tool_use","session_id":"s1",)"
                                  R"("entries":[{"tool":"a"},{"tool":"b","workspace":"/p"}]})");
  CHECK_MESSAGE(good.status == 201, good.body);
  CHECK(count(good.json["ids"]) == 2);
  const Answer bad =
      api.post("/memory/records",
               R"({"type":"fact","session_id":"s1","entries":[{"content":"x"},{"content":""}]})");
  CHECK(bad.status == 400);
  CHECK(bad.json["error"]["line"].integer() == 2);
  CHECK(count(api.get("/memory/entries?type=fact").json["entries"]) == 0);
  CHECK(api.post("/memory/records", R"({"type":"fact"})").field() == "entries");
  CHECK(api.post("/memory/records", R"({"type":"fact","entries":[5]})").field() == "entries");
  CHECK(api.post("/memory/records", R"({"type":"fact","entries":[],"x":"y"})").field() == "x");
}

TEST_CASE("a change is a new version, and leaves identity alone") {
  ApiFixture api;
  api.make_session("s1");
  api.make_session("s2");
  api.add("s1", EntryType::kDecision,
          R"({"id":"dec-1","decision":"A","impact":"low","mine":{"n": 1.00}})");
  const Answer answer = api.request("PATCH", "/memory/record/dec-1",
                                    R"({"decision":"B","impact":null,"tags":["t"]})");
  REQUIRE_MESSAGE(answer.status == 200, answer.body);
  const JsonValue entry = answer.json["entry"];
  CHECK(entry["versions"].integer() == 2);
  CHECK(entry["fields"]["decision"].string() == "B");
  CHECK_FALSE(entry["fields"]["impact"].present());
  CHECK(api.last_line("s1", "decisions.jsonl").find(R"("mine":{"n":1.00})") != std::string::npos);
  const Answer history = api.get("/memory/record/dec-1/history");
  CHECK(count(history.json["versions"]) == 2);
  CHECK((*history.json["versions"].elements().begin())["fields"]["decision"].string() == "A");

  CHECK(api.request("PATCH", "/memory/record/dec-1", R"({"id":"dec-2"})").field() == "id");
  CHECK(api.request("PATCH", "/memory/record/dec-1", R"({"type":"fact"})").field() == "type");
  CHECK(api.request("PATCH", "/memory/record/dec-1", R"({"decision":""})").field() == "decision");
  CHECK(api.request("PATCH", "/memory/record/dec-1", "{}").status == 400);
  CHECK(api.request("PATCH", "/memory/record/dec-9", R"({"decision":"B"})").status == 404);

  api.add("s2", EntryType::kDecision, R"({"id":"dec-1","decision":"C"})");
  const Answer ambiguous = api.request("PATCH", "/memory/record/dec-1", R"({"impact":"high"})");
  CHECK(ambiguous.status == 400);
  CHECK(ambiguous.field() == "session_id");
  CHECK(api.request("PATCH", "/memory/record/dec-1?session_id=s2", R"({"impact":"high"})").status ==
        200);
}

TEST_CASE("a pin is a new version of what changes") {
  ApiFixture api;
  api.make_session("s1");
  api.add("s1", EntryType::kFact, R"({"id":"fact-1","content":"F"})");
  const Answer pinned = api.post("/memory/pin", R"({"id":"fact-1"})");
  REQUIRE(count(pinned.json["changed"]) == 1);
  const JsonValue entry = *pinned.json["changed"].elements().begin();
  CHECK(entry["pinned"].boolean());
  CHECK(entry["versions"].integer() == 2);
  const Answer again = api.post("/memory/pin", R"({"ids":["fact-1","nothing"]})");
  CHECK(count(again.json["unchanged"]) == 1);
  CHECK((*again.json["unknown_ids"].elements().begin()).string() == "nothing");
  CHECK(count(api.post("/memory/pin", R"({"id":"fact-1","pinned":false})").json["changed"]) == 1);
  CHECK(api.post("/memory/pin", R"({"id":"nothing"})").status == 404);
  CHECK(api.post("/memory/pin", "{}").status == 400);
}

TEST_CASE("what is deleted can be brought back, unless it is purged") {
  ApiFixture api;
  api.make_session("s1");
  api.add("s1", EntryType::kFact, R"({"id":"fact-1","content":"F"})");
  const Answer dry = api.request("DELETE", "/memory/record/fact-1?dry_run=true");
  CHECK(dry.json["deleted"].integer() == 1);
  CHECK(api.get("/memory/record/fact-1").status == 200);
  const Answer gone = api.request("DELETE", "/memory/record/fact-1");
  CHECK(gone.json["expires_at"].is_string());
  CHECK(api.get("/memory/record/fact-1").status == 404);
  CHECK(api.request("DELETE", "/memory/record/fact-1").status == 404);
  CHECK(api.post("/memory/undelete", R"({"ids":["fact-1"]})").json["lines"].integer() == 1);
  CHECK(api.get("/memory/record/fact-1").status == 200);
  CHECK(api.post("/memory/undelete", R"({"ids":["fact-1"]})").status == 404);
  CHECK(api.post("/memory/undelete", "{}").status == 400);
  CHECK(api.request("DELETE", "/memory/record/fact-1?purge=true").status == 200);
  CHECK(api.post("/memory/undelete", R"({"ids":["fact-1"]})").status == 404);
}

}  // namespace
TEST_CASE("two entries are linked, and the link is shown and taken away") {
  ApiFixture api;
  api.make_session("s1");
  for (const std::string_view id : {"a", "b", "c"}) {
    const Answer added =
        api.post("/memory/record", R"({"type":"fact","session_id":"s1","id":")" + std::string(id) +
                                       R"(","content":"Of )" + std::string(id) + R"("})");
    CHECK_MESSAGE(added.status == 201, added.body);
  }
  const std::string link = R"({"from":"a","relation":"solves","to":"b"})";
  const Answer linked = api.post("/memory/link", link);
  CHECK_MESSAGE(linked.status == 200, linked.body);
  CHECK(linked.json["changed"].boolean());
  CHECK(linked.json["entry"]["versions"].integer() == 2);
  CHECK_FALSE(api.post("/memory/link", link).json["changed"].boolean());
  CHECK(api.post("/memory/link", R"({"from":"b","relation":"supersedes","to":"c"})").status == 200);
  const Answer got = api.get("/memory/record/b");
  const JsonValue entry = *got.json["entries"].elements().begin();
  CHECK(count(entry["linked"]) == 2);
  CHECK((*entry["linked"].elements().begin())["relation"].string() == "solved_by");
  const Answer related = api.get("/memory/record/a/related?depth=2");
  CHECK(related.body.contains(R"("relation":"supersedes")"));
  CHECK(related.body.contains(R"("depth":2,"via":"b")"));
  CHECK(api.get("/memory/entries").body.contains(R"("outdated":true)"));
  CHECK(api.get("/memory/graph").status == 200);
  CHECK_FALSE(api.post("/memory/link", R"({"from":"a","relation":"solves","to":"b","remove":true})")
                  .json["linked"]
                  .boolean());
  CHECK(api.post("/memory/link", R"({"from":"a","relation":"kills","to":"b"})").field() ==
        "relation");
  CHECK(api.post("/memory/link", R"({"from":"a","relation":"solves","to":"z"})").status == 404);
}

}  // namespace bmad_mem::cli::test::record_api_test
