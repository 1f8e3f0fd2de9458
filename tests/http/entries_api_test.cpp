// Reading: search, lists, one entry.
#include <filesystem>

#include <doctest/doctest.h>

#include "http/api_fixture.hpp"

namespace bmad_mem::cli::test::entries_api_test {
namespace {

/// Two sessions of two projects with entries of several types.
class SomeEntries : public ApiFixture {
 public:
  SomeEntries() {
    REQUIRE(memory().create_session({.session_id = "s1", .project_name = "payments"}));
    REQUIRE(memory().create_session({.session_id = "s2", .project_name = "other"}));
    add("s1", EntryType::kDecision,
        R"({"id":"dec-1","timestamp":"2026-01-10T10:00:00Z","made_by":"ann",)"
        R"("decision":"Use PostgreSQL for the ledger","tags":["db"],"topic":"storage"})");
    add("s1", EntryType::kFact,
        R"({"id":"fact-1","timestamp":"2026-01-11T10:00:00Z","content":"The pool has 20 places"})");
    add("s1", EntryType::kPreference,
        R"({"id":"pref-1","timestamp":"2026-01-12T10:00:00Z","key":"db","value":"the pool first"})");
    add("s2", EntryType::kFinding,
        R"({"id":"finding-1","timestamp":"2026-01-13T10:00:00Z","discovered_by":"bob",)"
        R"("description":"No connection pool","pinned":true,"sensitive":true,"topic":"storage"})");
    add("s2", EntryType::kConversation,
        R"({"id":"msg-1","timestamp":"2026-01-14T10:00:00Z","role":"user",)"
        R"("content":"Is <script>alert(1)</script> the pool?","context":{"topic":"pool \"x\""}})");
  }

  /// The ids in the array, "a b c".
  static std::string ids(JsonValue array) {
    std::string out;
    for (const JsonValue element : array.elements()) {
      out += out.empty() ? "" : " ";
      out += element["id"].string();
    }
    return out;
  }
  std::string found(std::string_view query) {
    const Answer answer = get(fmt::format("/memory/search?sort=oldest&{}", query));
    CHECK_MESSAGE(answer.status == 200, answer.body);
    return ids(answer.json["hits"]);
  }
};

TEST_CASE_FIXTURE(SomeEntries, "a search counts all its hits, and gives them page by page") {
  const Answer counted = get("/memory/search?q=pool&k=1&counts=true");
  CHECK(count(counted.json["hits"]) == 1);
  CHECK(counted.json["counts"]["total"].integer() == 4);
  CHECK(counted.json["counts"]["types"]["fact"].integer() == 1);
  CHECK_FALSE(counted.json["counts"]["is_least"].boolean());
  CHECK(found("q=pool&k=2&offset=1") == "pref-1 finding-1");
  CHECK(found("q=pool&offset=9").empty());
  CHECK(get("/memory/search?q=pool&counts=true&workspace=/no/such")
            .json["counts"]["total"]
            .integer() == 0);
}

TEST_CASE("a workspace finds the records that name it, and the sessions that belong to it") {
  ApiFixture api;
  api.make_session("default");
  // The record and the fact of the specification.
  const std::string repo = "/Users/alex/src/repo";
  const std::string record =
      R"({"id":"r-1","ts":1738112345123,"type":"tool_use","session_id":"default","workspace":")" +
      repo +
      R"(","tool":"Write","path":"docs/README.md","content":"Applied patch to README",)"
      R"("tags":["transmute","write"],"metadata":{"cost":{"total":0.0023,"currency":"USD"}}})";
  const std::string fact =
      R"({"type":"fact","id":"f-1","ts":1738112345124,"session_id":"default","workspace":")" +
      repo + R"(/","content":"README has a mystical tone","tags":["preference","tone"]})";
  for (const std::string& body :
       {record, fact,
        std::string(R"({"type":"fact","id":"f-2","session_id":"default","content":"README here"})"),
        std::string(R"({"type":"tool_use","id":"r-2","session_id":"default","tool":"Edit",)"
                    R"("workspace":"/other/repo","content":"README of another one"})")}) {
    const Answer answer = api.post("/memory/record", body);
    CHECK_MESSAGE(answer.status == 201, answer.body);
  }
  struct Row {
    std::string_view query;
    std::string_view ids;
  };
  static constexpr Row kRows[] = {
      {"search?q=README&sort=oldest&workspace=/Users/alex/src/repo", "r-1 f-1"},
      {"search?q=README&k=20&type=records&session_id=default&since=2025-01-01&"
       "workspace=/Users/alex/src/repo",
       "r-1"},
      {"search?q=README&k=20&type=facts&session_id=default&workspace=/Users/alex/src/repo/", "f-1"},
      {"search?q=README&sort=oldest&workspace=repo", "r-1 f-1 r-2"},
      {"search?q=README&workspace=/Users/alex/src", ""},
      {"entries?workspace=/other/repo", "r-2"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.query);
    const Answer answer = api.get("/memory/" + std::string(row.query));
    CHECK_MESSAGE(answer.status == 200, answer.body);
    const JsonValue hits = answer.json[row.query.starts_with("search") ? "hits" : "entries"];
    std::string ids;
    for (const JsonValue hit : hits.elements()) {
      ids += (ids.empty() ? "" : " ") + std::string(hit["id"].string());
    }
    CHECK(ids == row.ids);
  }
  CHECK(count(api.get("/memory/timeline?workspace=/other/repo").json["buckets"]) == 1);
}

TEST_CASE_FIXTURE(SomeEntries, "a search chooses by each of its filters") {
  struct Row {
    std::string_view query;
    std::string_view ids;
  };
  static constexpr Row kRows[] = {
      {"q=pool", "fact-1 pref-1 finding-1 msg-1"},
      {"q=pool&k=1", "fact-1"},
      {"q=pool&type=fact", "fact-1"},
      {"q=pool&type=facts", "fact-1 pref-1"},
      {"q=pool&type=records", "finding-1 msg-1"},
      {"q=pool&type=finding&type=conversations", "finding-1 msg-1"},
      {"q=pool&session_id=s1", "fact-1 pref-1"},
      {"q=pool&session_id=s1&session_id=s2", "fact-1 pref-1 finding-1 msg-1"},
      {"q=pool&agent=bob", "finding-1"},
      {"q=pool&field=status:open", "finding-1"},
      {"q=-word&field=-status:open&type=finding", ""},
      {"q=status:open", "finding-1"},
      {"field=made_by:ANN&field=made_by:bob", "dec-1"},
      {"q=the pool - *.tmp \"open", "fact-1 pref-1 finding-1 msg-1"},
      {"tag=db", "dec-1"},
      {"q=pool&since=2026-01-12&until=2026-01-13", "pref-1 finding-1"},
      {"pinned=true", "finding-1"},
      {"q=pool&sensitive=false", "fact-1 pref-1 msg-1"},
      {"topic=storage", "dec-1 finding-1"},
      {"topic=storage&q=pool", "finding-1"},
      {"topic=pool \"x\"", "msg-1"},
      {"q=pool&workspace=payments", "fact-1 pref-1"},
      {"q=pool&workspace=payments&session_id=s2", ""},
      {"q=pool&workspace=nowhere", ""},
      {"q=pool+zeppelin&min_score=1", ""},
      {"", "dec-1 fact-1 pref-1 finding-1 msg-1"},
      {"q=", "dec-1 fact-1 pref-1 finding-1 msg-1"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.query);
    CHECK(found(row.query) == row.ids);
  }
}

TEST_CASE_FIXTURE(SomeEntries, "what is archived is found, and one that can't be read is named") {
  REQUIRE(memory().archive_session("s1").has_value());
  struct Row {
    std::string_view query;
    std::string_view ids;
  };
  static constexpr Row kRows[] = {
      {"q=pool", "fact-1 pref-1 finding-1 msg-1"},
      {"q=pool&archived=yes", "fact-1 pref-1 finding-1 msg-1"},
      {"q=pool&archived=true", "fact-1 pref-1 finding-1 msg-1"},
      {"q=pool&archived=no", "finding-1 msg-1"},
      {"q=pool&archived=false", "finding-1 msg-1"},
      {"q=pool&archived=only", "fact-1 pref-1"},
      {"q=pool&session_id=s1", "fact-1 pref-1"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.query);
    CHECK(found(row.query) == row.ids);
  }
  CHECK(get("/memory/search?q=pool&archived=maybe").field() == "archived");
  const Answer hits = get("/memory/search?q=pool&archived=only");
  CHECK((*hits.json["hits"].elements().begin())["archived"].boolean());
  CHECK_FALSE(hits.json["problems"].is_array());
  CHECK(get("/memory/record/fact-1").body.find(R"("archived":true)") != std::string::npos);

  std::filesystem::resize_file(memory().root() + "/archive/s1.tar.gz", 30);
  const Answer rest = get("/memory/search?q=pool");
  CHECK(ids(rest.json["hits"]).find("finding-1") != std::string::npos);
  REQUIRE(count(rest.json["problems"]) == 1);
  CHECK((*rest.json["problems"].elements().begin())["code"].string() == "E_STORAGE_CORRUPT");
  CHECK(count(rest.json["incomplete"]) == 1);
}

TEST_CASE_FIXTURE(SomeEntries, "with a time, the versions of then, and times are counted from it") {
  add("s1", EntryType::kDecision,
      R"({"id":"dec-1","timestamp":"2026-02-10T10:00:00Z","decision":"Use SQLite for the ledger"})");
  const auto says = [&](std::string_view target, std::string_view text) {
    const Answer answer = get(target);
    CAPTURE(target);
    CAPTURE(answer.body);
    CHECK(answer.json["as_of"].is_string());
    CHECK(answer.body.find(text) != std::string::npos);
  };
  says("/memory/search?q=ledger&as_of=2026-01-10", "PostgreSQL");
  says("/memory/search?q=ledger&as_of=2026-02-10", "SQLite");
  says("/memory/entries?as_of=2026-01-10", "PostgreSQL");
  says("/memory/record/dec-1?as_of=2026-01-10", "PostgreSQL");
  says("/memory/context?task=ledger&as_of=2026-01-10", "PostgreSQL");
  says("/memory/timeline?as_of=2026-01-10", R"("total":1,)");
  says("/memory/topics?as_of=2026-01-10", R"("topic":"storage","entries":1,)");
  CHECK(get("/memory/record/dec-1?as_of=2026-01-09").status == 404);
  CHECK(found("as_of=2026-01-11T12:00:00Z&since=1d") == "fact-1");
  CHECK_FALSE(get("/memory/search?q=ledger").json["as_of"].present());
  const Answer refused = get("/memory/search?q=ledger&as_of=someday");
  CHECK(refused.field() == "as_of");
  CHECK(refused.body.find("is not a time; write") != std::string::npos);
  CHECK(get("/memory/record/dec-1/history?as_of=2026-01-10").status == 400);
}

TEST_CASE_FIXTURE(SomeEntries, "without words a search shows the newest first") {
  CHECK(ids(get("/memory/search").json["hits"]) == "msg-1 finding-1 pref-1 fact-1 dec-1");
  CHECK(ids(get("/memory/search?q= ").json["hits"]) == "msg-1 finding-1 pref-1 fact-1 dec-1");
}

TEST_CASE_FIXTURE(SomeEntries, "a hit says what it is, why it is one, and where it matched") {
  const Answer answer = get("/memory/search?q=ledger&explain=true");
  REQUIRE(count(answer.json["hits"]) == 1);
  const JsonValue hit = *answer.json["hits"].elements().begin();
  CHECK(hit["id"].string() == "dec-1");
  CHECK(hit["type"].string() == "decision");
  CHECK(hit["who"].string() == "ann");
  CHECK(hit["timestamp"].string() == "2026-01-10T10:00:00Z");
  CHECK(hit["score"].number() > 0);
  CHECK(hit["weights"]["text"].number() == doctest::Approx(0.4));
  const JsonValue highlight = *hit["highlights"].elements().begin();
  CHECK(hit["snippet"].string().substr(static_cast<std::size_t>(highlight["offset"].integer()),
                                       static_cast<std::size_t>(highlight["size"].integer())) ==
        "ledger");
  CHECK(count(hit["explanation"]["terms"]) == 1);
}

TEST_CASE_FIXTURE(SomeEntries, "an entry comes with its line as it is") {
  const Answer answer = get("/memory/record/msg-1");
  CHECK(answer.status == 200);
  CHECK(answer.body.find(R"("fields":)" + last_line("s2", "conversation.jsonl")) !=
        std::string::npos);
  CHECK(get("/memory/record/msg-1?session_id=s1").status == 404);
  for (const char* path : {"/memory/record/nothing", "/memory/record/nothing/history",
                           "/memory/record/nothing/related"}) {
    CHECK(get(path).code() == "E_ENTRY_NOT_FOUND");
  }
  CHECK(get("/memory/record/nothing/history").status == 404);
  CHECK(get("/memory/record/nothing/related").status == 404);
  CHECK(get("/memory/record/msg-1?session_id=s9").status == 404);
}

TEST_CASE_FIXTURE(SomeEntries, "lists, topics and the timeline count the same entries") {
  CHECK(ids(get("/memory/entries?limit=2").json["entries"]) == "msg-1 finding-1");
  CHECK(ids(get("/memory/entries?topic=storage").json["entries"]) == "finding-1 dec-1");
  const Answer topics = get("/memory/topics");
  const JsonValue topic = *topics.json["topics"].elements().begin();
  CHECK(topic["topic"].string() == "storage");
  CHECK(topic["entries"].integer() == 2);
  CHECK(topic["sessions"].integer() == 2);
  const Answer timeline = get("/memory/timeline?unit=month");
  REQUIRE(count(timeline.json["buckets"]) == 1);
  const JsonValue bucket = *timeline.json["buckets"].elements().begin();
  CHECK(bucket["begin"].string() == "2026-01-01T00:00:00Z");
  CHECK(bucket["total"].integer() == 5);
  CHECK(bucket["types"]["fact"].integer() == 1);
  CHECK(bucket["types"]["event"].integer() == 0);
}

TEST_CASE_FIXTURE(SomeEntries, "related entries are named with their relation") {
  add("s2", EntryType::kEvent,
      R"({"id":"evt-1","kind":"tool_use","references":{"findings":["finding-1"]}})");
  const Answer answer = get("/memory/record/finding-1/related?limit=2");
  CHECK(count(answer.json["related"]) == 2);
  const JsonValue first = *answer.json["related"].elements().begin();
  CHECK(first["entry"]["id"].string() == "evt-1");
  CHECK(first["relation"].string() == "referenced_by");
  CHECK(first["relevance"].number() == 1);
}

}  // namespace
}  // namespace bmad_mem::cli::test::entries_api_test
