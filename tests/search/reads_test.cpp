// reads_test.cpp - get, history, list and query: what they find, and in which order.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::reads_test {
namespace {

using Ids = std::vector<std::string>;

Ids ids_of(const std::vector<Entry>& entries) {
  Ids ids;
  for (const Entry& entry : entries) {
    ids.push_back(entry.id);
  }
  return ids;
}

Ids ids_of(const std::vector<Hit>& hits) {
  Ids ids;
  for (const Hit& hit : hits) {
    ids.push_back(hit.entry.id);
  }
  return ids;
}

Timestamp at(const std::string& time) { return parse_rfc3339(time).value(); }

/// Two sessions with entries of several types, times, agents and tags:
///
///   s1   m1  conversation  10:00  user       f1  fact      12:00  agent a  tag x, pinned
///        d1  decision      11:00  architect  f2  fact      13:00  agent b  tag y, sensitive
///   s2   m2  conversation  14:00  assistant  f1  fact      15:00  agent a  tag x, y
class Library {
 public:
  Library() {
    memory.session("s1");
    memory.session("s2");
    put("s1", EntryType::kConversation, "m1", 10,
        R"("role":"user","content":"why postgres and not mysql")");
    put("s1", EntryType::kDecision, "d1", 11,
        R"("decision":"Use PostgreSQL","rationale":"ACID","made_by":"architect","impact":"high")");
    put("s1", EntryType::kFact, "f1", 12,
        R"("content":"old","agent_id":"a","tags":["x"],"pinned":true)");
    put("s1", EntryType::kFact, "f1", 12,
        R"("content":"staging runs postgres","agent_id":"a","tags":["x"],"pinned":true)");
    put("s1", EntryType::kFact, "f2", 13,
        R"("content":"backups at night","agent_id":"b","tags":["y"],"sensitive":true)");
    put("s2", EntryType::kConversation, "m2", 14,
        R"("role":"assistant","content":"a pool of connections","agent_id":"a")");
    put("s2", EntryType::kFact, "f1", 15,
        R"("content":"another one","agent_id":"a","tags":["x","y"])");
    memory.reopen();
  }

  Ids list(EntryFilter filter = {}) { return ids_of(memory->list(filter).value()); }
  Ids query(const std::string& text, EntryFilter filter = {},
            SortOrder sort = SortOrder::kRelevanceDesc) {
    return ids_of(memory->query({.text = text, .filter = filter, .sort = sort}).value());
  }

  MemoryFixture memory;

 private:
  void put(const std::string& session, EntryType type, const std::string& id, int hour,
           const std::string& members) {
    memory.add(
        type,
        fmt::format(R"({{"id":"{}","timestamp":"2026-01-11T{:02}:00:00Z",{}}})", id, hour, members),
        session);
  }
};

}  // namespace

TEST_CASE("entries are got in the order asked for, from all sessions or some") {
  Library library;
  const auto get = [&](const Ids& ids, const Ids& sessions = {}) {
    Ids found;
    const std::vector<Entry> entries = library.memory->get(ids, sessions).value();
    for (const Entry& entry : entries) {
      found.push_back(entry.session_id + "/" + entry.id);
    }
    return found;
  };
  CHECK(get({"d1", "m2"}) == Ids{"s1/d1", "s2/m2"});
  CHECK(get({"m2", "nobody", "d1"}) == Ids{"s2/m2", "s1/d1"});
  CHECK(get({"f1"}) == Ids{"s1/f1", "s2/f1"});
  CHECK(get({"f1"}, {"s2"}) == Ids{"s2/f1"});
  CHECK(get({"f1", "f1"}, {"s2"}) == Ids{"s2/f1", "s2/f1"});
  CHECK(get({"nobody"}).empty());
  CHECK(get({}).empty());
}

TEST_CASE("an entry carries what is known of it") {
  Library library;
  const Ids ids = {"f1"};
  const Ids sessions = {"s1"};
  const Entry entry = library.memory->get(ids, sessions).value().at(0);
  CHECK(entry.type == EntryType::kFact);
  CHECK(entry.timestamp == at("2026-01-11T12:00:00Z"));
  CHECK(entry.who == "a");
  CHECK(entry.headline == "staging runs postgres");
  CHECK(entry.line == 2);
  CHECK(entry.versions == 2);
  CHECK(entry.pinned);
  CHECK_FALSE(entry.sensitive);
  const Ids sensitive = {"f2"};
  CHECK(library.memory->get(sensitive).value().at(0).sensitive);
  CHECK(library.memory->history("f2").value().at(0).sensitive);
}

TEST_CASE("history has every version, oldest first") {
  Library library;
  const std::vector<Entry> all = library.memory->history("f1").value();
  REQUIRE(all.size() == 3);
  CHECK(all[0].json.find("\"old\"") != std::string::npos);
  CHECK(all[0].versions == 1);
  CHECK(all[1].json.find("staging") != std::string::npos);
  CHECK(all[1].versions == 2);
  CHECK(all[2].session_id == "s2");
  const Ids sessions = {"s2"};
  CHECK(library.memory->history("f1", sessions).value().size() == 1);
  CHECK(library.memory->history("nobody").value().empty());
}

TEST_CASE("a list is newest first, and every filter leaves out what it names not") {
  Library library;
  struct Row {
    const char* name;
    EntryFilter filter;
    Ids ids;
  };
  const Row rows[] = {
      {"everything", {}, {"f1", "m2", "f2", "f1", "d1", "m1"}},
      {"a session", {.sessions = {"s2"}}, {"f1", "m2"}},
      {"two sessions", {.sessions = {"s2", "s1"}}, {"f1", "m2", "f2", "f1", "d1", "m1"}},
      {"a type", {.types = {EntryType::kFact}}, {"f1", "f2", "f1"}},
      {"two types",
       {.types = {EntryType::kDecision, EntryType::kConversation}},
       {"m2", "d1", "m1"}},
      {"a tag", {.tags = {"y"}}, {"f1", "f2"}},
      {"any of two tags", {.tags = {"x", "y"}}, {"f1", "f2", "f1"}},
      {"a tag nobody has", {.tags = {"X"}}, {}},
      {"an agent", {.agents = {"a"}}, {"f1", "m2", "f1"}},
      {"an author", {.agents = {"architect"}}, {"d1"}},
      {"since, inclusive", {.since = at("2026-01-11T13:00:00Z")}, {"f1", "m2", "f2"}},
      {"until, inclusive", {.until = at("2026-01-11T11:00:00Z")}, {"d1", "m1"}},
      {"between",
       {.since = at("2026-01-11T11:00:00Z"), .until = at("2026-01-11T12:00:00Z")},
       {"f1", "d1"}},
      {"pinned", {.pinned_only = true}, {"f1"}},
      {"without the sensitive", {.without_sensitive = true}, {"f1", "m2", "f1", "d1", "m1"}},
      {"a limit", {.limit = 2}, {"f1", "m2"}},
      {"all together",
       {.sessions = {"s1"}, .types = {EntryType::kFact}, .tags = {"x", "y"}, .agents = {"b"}},
       {"f2"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(library.list(row.filter) == row.ids);
  }
}

TEST_CASE("a time range that ends before it begins is an error, not an empty answer") {
  Library library;
  const EntryFilter filter = {.since = at("2026-01-11T12:00:00Z"),
                              .until = at("2026-01-11T11:00:00Z")};
  CHECK(library.memory->list(filter).error().code == ErrorCode::E_INVALID_QUERY);
  CHECK(library.memory->query({.text = "word", .filter = filter}).error().code ==
        ErrorCode::E_INVALID_QUERY);
}

TEST_CASE("a limit of 0 is none, and 20 is the limit when nobody says") {
  MemoryFixture memory;
  memory.session();
  for (int i = 0; i < 30; ++i) {
    memory.add_fact(fmt::format("f{:02}", i), "word");
  }
  CHECK(memory->list({}).value().size() == 20);
  CHECK(memory->list({.limit = 0}).value().size() == 30);
  CHECK(memory->list({.limit = 100}).value().size() == 30);
  CHECK(memory->query({.text = "word"}).value().size() == 20);
  CHECK(memory->query({.text = "word", .filter = {.limit = 0}}).value().size() == 30);
  // Equal times and scores: by id, so that the order is the same each time.
  CHECK(memory->list({.limit = 1}).value().at(0).id == "f29");
  CHECK(memory->query({.text = "word", .filter = {.limit = 1}}).value().at(0).entry.id == "f29");
}

TEST_CASE("a query finds the latest versions that hold its words, best first") {
  Library library;
  const Ids found = library.query("why postgres");
  CHECK(found.size() == 3);
  CHECK(library.query("old").empty());
  CHECK(library.query("mysql") == Ids{"m1"});
  CHECK(library.query("nothing here of it").empty());
}

TEST_CASE("a query takes the filters of a list, and other orders") {
  Library library;
  CHECK(library.query("postgres", {.types = {EntryType::kDecision}}) == Ids{"d1"});
  CHECK(library.query("postgres", {.sessions = {"s2"}}).empty());
  CHECK(library.query("postgres", {.agents = {"a"}}) == Ids{"f1"});
  CHECK(library.query("postgres", {}, SortOrder::kTimeDesc) == Ids{"f1", "d1", "m1"});
  CHECK(library.query("postgres", {}, SortOrder::kTimeAsc) == Ids{"m1", "d1", "f1"});
  CHECK(library.query("postgres", {.limit = 1}, SortOrder::kTimeAsc) == Ids{"m1"});
}

TEST_CASE("hits tell how relevant they are and what matched") {
  Library library;
  const std::vector<Hit> hits = library.memory->query({.text = "staging postgres"}).value();
  REQUIRE(hits.size() >= 2);
  CHECK(hits[0].entry.id == "f1");
  CHECK(hits[0].snippet.find("staging runs postgres") != std::string::npos);
  REQUIRE(hits[0].highlights.size() == 2);
  CHECK(hits[0].snippet.substr(hits[0].highlights[1].offset, hits[0].highlights[1].size) ==
        "postgres");
  for (std::size_t i = 0; i < hits.size(); ++i) {
    CHECK(hits[i].relevance > 0);
    CHECK(hits[i].relevance <= 1);
    CHECK((i == 0 || hits[i].relevance <= hits[i - 1].relevance));
  }
  const double best = hits[0].relevance;
  const std::vector<Hit> good =
      library.memory->query({.text = "staging postgres", .min_relevance = best}).value();
  CHECK(ids_of(good) == Ids{"f1"});
}

TEST_CASE("a query without a word is invalid") {
  Library library;
  for (const char* text : {"", "  "}) {
    CHECK(code_of(library.memory->query({.text = text})) == ErrorCode::E_INVALID_QUERY);
  }
}

TEST_CASE(
    "filters on fields choose alike in a query, a list and the typed reads, and are checked") {
  Library library;
  library.memory.add(EntryType::kFinding,
                     R"({"id":"x1","description":"seat sold twice","severity":"high"})", "s1");
  library.memory.add(EntryType::kFinding,
                     R"({"id":"x2","description":"seat map","severity":"low","status":"resolved"})",
                     "s1");
  library.memory.add(EntryType::kFinding,
                     R"({"id":"x2","description":"seat map","severity":"low"})", "s1");
  const auto chosen = [&](std::vector<FieldFilter> fields) {
    const EntryFilter filter{.types = {EntryType::kFinding}, .fields = std::move(fields)};
    const Ids ids = ids_of(library.memory->list(filter).value());
    CHECK(ids_of(library.memory->query({.filter = filter, .sort = SortOrder::kTimeDesc}).value()) ==
          ids);
    CHECK(ids_of(library.memory->findings("s1", filter).value()) == ids);
    return ids.size() == 1 ? ids.front() : std::to_string(ids.size());
  };
  CHECK(chosen({{.field = "status", .value = "open"}}) == "2");
  CHECK(chosen({{.field = "status", .value = "resolved"}}) == "0");
  CHECK(chosen({{.field = "severity", .value = "HIGH"}}) == "x1");
  CHECK(chosen({{.field = "severity", .value = "high", .excluded = true}}) == "x2");
  CHECK(library.memory->decisions("s1", {.fields = {{.field = "impact", .value = "low"}}})
            .value()
            .empty());

  const EntryFilter bad{.fields = {{.field = "stauts", .value = "open"}}};
  CHECK(code_of(library.memory->list(bad)) == ErrorCode::E_INVALID_QUERY);
  CHECK(code_of(library.memory->query({.text = "x", .filter = bad})) == ErrorCode::E_INVALID_QUERY);
  CHECK(code_of(library.memory->findings("s1", bad)) == ErrorCode::E_INVALID_QUERY);
  CHECK(code_of(library.memory->related("f1", bad)) == ErrorCode::E_INVALID_QUERY);
  CHECK(code_of(library.memory->topics(bad)) == ErrorCode::E_INVALID_QUERY);
  CHECK(library.memory->list(bad).error().field == "fields");
}

TEST_CASE("an answer says what of the query was read as words") {
  Library library;
  const QueryAnswer answer = library.memory->ask({.text = "staging *.tmp"}).value();
  REQUIRE(answer.as_prose.size() == 1);
  CHECK(answer.as_prose.front().text == "*.tmp");
  CHECK(answer.notes ==
        std::vector<std::string>{"read \"*.tmp\" as a word: it looks like a pattern of names"});
  CHECK(library.memory->ask({.text = "staging"}).value().notes.empty());
  CHECK(library.memory->ask({.text = "staging key:none"}).value().notes ==
        std::vector<std::string>{"read \"key:none\" as a filter; write key\\:none for the words"});
}

TEST_CASE("the typed reads have one type of one session, newest first") {
  Library library;
  CHECK(ids_of(library.memory->decisions("s1").value()) == Ids{"d1"});
  CHECK(library.memory->findings("s1").value().empty());
  CHECK(library.memory->preferences("s2").value().empty());
  for (int i = 0; i < 25; ++i) {
    library.memory.add(EntryType::kPreference,
                       fmt::format(R"({{"id":"p{:02}","key":"k{}","value":{}}})", i, i, i), "s2");
  }
  const std::vector<Entry> all = library.memory->preferences("s2").value();
  CHECK(all.size() == 25);
  CHECK(all.front().id == "p24");
}

TEST_CASE("the state of an agent is its newest one, in the index or behind it") {
  Library library;
  MemoryFixture& memory = library.memory;
  const auto save = [&](std::string_view session, std::string_view id, std::string_view agent,
                        int hour) {
    memory.add(EntryType::kAgentState,
               fmt::format(R"({{"id":"{}","timestamp":"2026-01-11T{:02}:00:00Z","agent_id":"{}",)"
                           R"("state":{{"step":{}}}}})",
                           id, hour, agent, hour),
               std::string(session));
  };
  const auto state = [&](std::string_view agent) {
    const std::optional<Entry> found = memory->agent_state(agent).value();
    return found ? found->id : std::string();
  };
  save("s1", "t1", "a", 16);
  save("s1", "t2", "a", 17);
  save("s2", "t3", "a", 12);
  save("s2", "t4", "b", 18);
  const auto index = [&] {
    memory.clock.advance(std::chrono::hours(1));
    (void)memory->rebuild_index().value();
    memory.reopen();
  };
  SUBCASE("no index") {}
  SUBCASE("an index") { index(); }
  CHECK(state("a") == "t2");
  CHECK(state("b") == "t4");
  CHECK(state("nobody").empty());
  CHECK(library.list({.types = {EntryType::kAgentState, EntryType::kDecision}}) ==
        Ids{"t4", "t2", "t1", "t3", "d1"});
  CHECK(library.list({.types = {EntryType::kAgentState, EntryType::kConversation}}) ==
        Ids{"t4", "t2", "t1", "m2", "t3", "m1"});
  save("s1", "t2", "a", 9);  // A new version, of an older time.
  CHECK(state("a") == "t1");
}

TEST_CASE("reads pass over damaged and torn lines") {
  MemoryFixture memory;
  memory.session();
  memory.write(EntryType::kFact, "broken\n" + MemoryFixture::fact("f1", "word") + "\n{}\n" +
                                     MemoryFixture::fact("f2", "word"));
  CHECK(ids_of(memory->list({}).value()) == Ids{"f1"});
  CHECK(ids_of(memory->query({.text = "word"}).value()) == Ids{"f1"});
  CHECK(memory->list({}).value().at(0).line == 2);
}

TEST_CASE("reads change nothing") {
  Library library;
  library.memory.write(EntryType::kEvent, "torn");
  const auto before = library.memory.files();
  library.list();
  library.query("postgres");
  CHECK(library.memory->history("f1").has_value());
  CHECK(library.memory->statistics("s1").has_value());
  CHECK(library.memory->verify().has_value());
  CHECK(library.memory.files() == before);
}

TEST_CASE("an empty root has nothing, and says so without an error") {
  MemoryFixture memory;
  const Ids ids = {"f1"};
  CHECK(memory->get(ids).value().empty());
  CHECK(memory->history("f1").value().empty());
  CHECK(memory->list({}).value().empty());
  CHECK(memory->query({.text = "word"}).value().empty());
  CHECK(memory->global_statistics().value().sessions.empty());
  CHECK(memory->verify().value().findings.empty());
}

}  // namespace bmad_mem::test::reads_test
