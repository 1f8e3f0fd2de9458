// readable_index_test.cpp - the index that people read: what stands in it, and how it is laid out.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "search/index/index_fixture.hpp"
#include "search/indexing.hpp"
#include "store/layout.hpp"

namespace bmad_mem::test::readable_index_test {
namespace {

using Json = nlohmann::ordered_json;
using Ids = std::vector<std::string>;
using Lists = std::map<std::string, std::set<std::string>>;

std::string made_text(IndexedSession& session, std::string_view language = "english") {
  const std::unique_ptr<SessionIndex> index = session.index(kSession, language);
  REQUIRE(index->refresh());
  const auto guard = index->lock();
  return make_readable_index(*index, session.clock, language)->text;
}

Json made(IndexedSession& session) { return Json::parse(made_text(session)); }

NewLine line(EntryType type, std::string_view text) {
  return {.type = type, .text = std::string(text)};
}

std::vector<std::string> keys_of(const Json& lists) {
  std::vector<std::string> keys;
  for (const auto& [key, ids] : lists.items()) {
    keys.push_back(key);
  }
  return keys;
}

/// The session that stands in the schema as an example.
void add_example(IndexedSession& session) {
  session.clock.set("2026-01-12T09:00:00Z");
  session.add(line(EntryType::kFact,
                   R"({"id":"fact-1","timestamp":"2026-01-11T10:30:00Z","agent_id":"architect",)"
                   R"("category":"constraint","content":"The ledger has transactions",)"
                   R"("tags":["storage"]})"));
  session.add(
      line(EntryType::kConversation,
           R"({"id":"msg-1","timestamp":"2026-01-11T10:05:23Z","agent_id":"architect",)"
           R"("role":"assistant","content":"Postgres for the ledger!",)"
           R"("context":{"topic":"database_selection"},"references":{"facts":["fact-1"]}})"));
  session.add(
      line(EntryType::kConversation,
           R"({"id":"msg-2","timestamp":"2026-01-11T12:05:23+01:00","role":"user",)"
           R"("content":"Is Postgres a database?","context":{"topic":"database_selection"}})"));
}

/// What an index of another kind says of the same logs: its keys with the ids of live entries.
Lists lists_of(SessionIndex& index, PostingKind kind, std::string_view prefix) {
  constexpr std::string_view kPrefixes[] = {kAgentPrefix,     kTagPrefix,   kReferencePrefix,
                                            kStatementPrefix, kFieldPrefix, kMarkPrefix};
  Lists lists;
  JsonParser parser;
  std::vector<std::string> keys;
  REQUIRE(index.part_keys(
      kind, prefix, [](std::string_view) { return true; },
      [&](std::string_view key, std::uint64_t) {
        keys.emplace_back(key);
        return true;
      }));
  for (const std::string& key : keys) {
    if (kind == PostingKind::kTerm && prefix.empty() &&
        std::ranges::any_of(kPrefixes,
                            [&](std::string_view each) { return key.starts_with(each); })) {
      continue;
    }
    for (const auto all = index.postings(kind, key); const Posting& posting : all.value()) {
      if (index.slots().slot(posting.ordinal) != SlotTable::kNoSlot) {
        const std::string text = index.line(posting.ordinal)->text;
        lists[key.substr(prefix.size())].emplace(entry_id(parser.parse(text).value()));
      }
    }
  }
  return lists;
}

Lists sets_of(const Json& lists) {
  Lists sets;
  for (const auto& [key, ids] : lists.items()) {
    sets[key] = std::set<std::string>(ids.begin(), ids.end());
  }
  return sets;
}

}  // namespace

TEST_CASE("the example of the schema is what is made") {
  IndexedSession session;
  add_example(session);
  std::ifstream file(BMAD_SOURCE_DIR "/schemas/index.schema.json");
  const Json schema = Json::parse(
      std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
  CHECK(made(session) == schema.at("examples").at(0));
  CHECK(keys_of(made(session)) == schema.at("required").get<std::vector<std::string>>());
}

TEST_CASE("a key stands on a line, with its ids") {
  IndexedSession session;
  add_example(session);
  CHECK(made_text(session) == R"({
  "version": 3,
  "session_id": "sess-1",
  "generated_at": "2026-01-12T09:00:00Z",
  "language": "english",
  "entries": 3,
  "counts": {"conversation": 2, "fact": 1},
  "inverted_index": {
    "databas": ["msg-2"],
    "ledger": ["msg-1", "fact-1"],
    "postgr": ["msg-1", "msg-2"],
    "storag": ["fact-1"],
    "transact": ["fact-1"]
  },
  "topic_index": {
    "database_selection": ["msg-1", "msg-2"]
  },
  "temporal_index": {
    "2026-01-11T10": ["msg-1", "fact-1"],
    "2026-01-11T11": ["msg-2"]
  },
  "tag_index": {
    "storage": ["fact-1"]
  },
  "agent_index": {
    "architect": ["msg-1", "fact-1"]
  }
}
)");
}

TEST_CASE("a session without entries has empty lists") {
  IndexedSession session;
  const auto is_empty = [&] {
    const Json index = made(session);
    bool all = index.at("entries") == 0;
    for (const char* name :
         {"inverted_index", "topic_index", "temporal_index", "tag_index", "agent_index"}) {
      all = all && index.at(name) == Json::object();
    }
    return all;
  };
  SUBCASE("no logs") { CHECK(is_empty()); }
  SUBCASE("empty logs") {
    session.files.write(IndexedSession::log(EntryType::kFact), "");
    session.files.write(IndexedSession::log(EntryType::kConversation), "\n\n");
    CHECK(is_empty());
  }
  SUBCASE("damage alone") {
    session.files.write(IndexedSession::log(EntryType::kFact), "{}\nhello\n{\"id\":\"fact-1\"");
    CHECK(is_empty());
  }
}

TEST_CASE("an entry without words stands by its hour") {
  IndexedSession session;
  session.add(message("msg-1", "!?"));
  const Json index = made(session);
  CHECK(index.at("entries") == 1);
  CHECK(index.at("inverted_index").empty());
  CHECK(index.at("temporal_index") == Json{{"2026-01-11T10", {"msg-1"}}});
}

TEST_CASE("superseded versions leave nothing behind") {
  IndexedSession session;
  session.add(line(EntryType::kFact, R"({"id":"f1","timestamp":"2026-01-11T08:00:00Z",)"
                                     R"("content":"amber cents","topic":"old","tags":["old"],)"
                                     R"("agent_id":"Ann"})"));
  session.add(fact("f2", "euro"));
  session.add(message("f1", "another type is another entry"));
  session.add(fact("f1", "violet euro"));
  const Json index = made(session);
  CHECK(index.at("entries") == 3);
  CHECK_FALSE(index.at("inverted_index").contains("amber"));
  CHECK(index.at("inverted_index").at("violet") == Ids{"f1"});
  CHECK(index.at("inverted_index").at("euro") == Ids{"f2", "f1"});
  CHECK(index.at("inverted_index").at("type") == Ids{"f1"});
  CHECK(index.at("temporal_index") == Json{{"2026-01-11T10", {"f1", "f2", "f1"}}});
  CHECK(index.at("topic_index").empty());
  CHECK(index.at("tag_index").empty());
  CHECK(index.at("agent_index").empty());
}

TEST_CASE("any text of an entry makes JSON that reads back") {
  IndexedSession session;
  session.add(line(EntryType::kConversation,
                   R"({"id":"msg-1","timestamp":"2026-01-11T10:00:00Z","role":"user",)"
                   R"("content":"Straße データベース \"quoted\" back\\slash tab\there 😀 naïve",)"
                   R"("context":{"topic":"a\"b\\c\u0001\n ü"},"agent_id":"Zoë \"Z\"",)"
                   R"("tags":["TAG:x","a\tb","AGENT:y","ü"]})"));
  std::string longest;
  for (int i = 0; i < 100; ++i) {
    longest += i % 2 == 0 ? "é" : "ж";
  }
  session.add(message("msg-2", longest));
  const Json index = made(session);
  CHECK(index.at("topic_index") == Json{{"a\"b\\c\x01\n ü", {"msg-1"}}});
  CHECK(index.at("tag_index") ==
        Json{{"AGENT:y", {"msg-1"}}, {"TAG:x", {"msg-1"}}, {"a\tb", {"msg-1"}}, {"ü", {"msg-1"}}});
  CHECK(index.at("agent_index") == Json{{"Zoë \"Z\"", {"msg-1"}}});
  const Json& words = index.at("inverted_index");
  for (const char* word : {"デー", "ータ", "naiv", "quot", "strass"}) {
    CAPTURE(std::string(word));
    CHECK(words.contains(word));
  }
  CHECK(std::ranges::all_of(keys_of(words), [](const std::string& key) {
    return key.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ\"\\") == std::string::npos;
  }));
}

TEST_CASE("hours are UTC, and entries without a topic stand under none") {
  IndexedSession session;
  session.add(line(EntryType::kEvent, R"({"id":"evt-1","timestamp":"2026-01-01T00:30:00+01:00",)"
                                      R"("kind":"approval"})"));
  session.add(line(EntryType::kConversation,
                   R"({"id":"msg-1","timestamp":"2025-12-31T23:59:59.999Z","role":"user",)"
                   R"("content":"x","context":{"topic":"new year"}})"));
  const Json index = made(session);
  CHECK(index.at("temporal_index") == Json{{"2025-12-31T23", {"msg-1", "evt-1"}}});
  CHECK(index.at("topic_index") == Json{{"new year", {"msg-1"}}});
}

TEST_CASE("damaged and torn lines are left out, and the rest is there") {
  IndexedSession session;
  session.add(fact("f1", "amber"));
  session.add(line(EntryType::kFact, "not JSON"));
  session.add(line(EntryType::kFact, R"({"id":"../x","timestamp":"2026-01-11T10:00:00Z"})"));
  session.add(line(EntryType::kFact,
                   "{\"id\":\"f9\",\"timestamp\":\"2026-01-11T10:00:00Z\","
                   "\"content\":\"bad \xFF byte\"}"));
  session.add(fact("f2", "violet"));
  const std::string log = IndexedSession::log(EntryType::kFact);
  session.files.write(log, session.files.read(log) + fact("f3", "torn").text);
  const Json index = made(session);
  CHECK(index.at("entries") == 2);
  CHECK(keys_of(index.at("inverted_index")) == std::vector<std::string>{"amber", "violet"});
}

TEST_CASE("it says of random sessions what the index of queries says") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    IndexedSession session;
    RandomEntries random(seed);
    for (std::uint32_t i = random.below(120); i > 0; --i) {
      session.add(random.next());
    }
    const Json index = made(session);
    const std::unique_ptr<SessionIndex> other = session.index();
    REQUIRE(other->refresh());
    const auto guard = other->lock();
    REQUIRE(other->load());
    CHECK(index.at("entries") == other->slots().size());
    CHECK(sets_of(index.at("inverted_index")) == lists_of(*other, PostingKind::kTerm, {}));
    CHECK(sets_of(index.at("tag_index")) == lists_of(*other, PostingKind::kTerm, kTagPrefix));
    CHECK(sets_of(index.at("agent_index")) == lists_of(*other, PostingKind::kTerm, kAgentPrefix));
    CHECK(sets_of(index.at("topic_index")) == lists_of(*other, PostingKind::kTopic, {}));
    CHECK(sets_of(index.at("temporal_index")) == lists_of(*other, PostingKind::kHour, {}));
    for (const char* name :
         {"inverted_index", "topic_index", "temporal_index", "tag_index", "agent_index"}) {
      CHECK(std::ranges::is_sorted(keys_of(index.at(name))));
    }
  }
}

TEST_CASE("equal logs give equal text, but for the time") {
  IndexedSession session;
  RandomEntries random(5);
  for (int i = 0; i < 50; ++i) {
    session.add(random.next());
  }
  const std::string first = made_text(session);
  CHECK(made_text(session) == first);
  session.clock.advance(std::chrono::hours(1));
  Json later = made(session);
  CHECK(later.at("generated_at") == "2026-01-11T11:00:00Z");
  later["generated_at"] = "2026-01-11T10:00:00Z";
  CHECK(later == Json::parse(first));
}

TEST_CASE("the stems are those of the language") {
  IndexedSession session;
  session.add(message("msg-1", "Die Datenbanken und die Häuser"));
  const Json index = Json::parse(made_text(session, "german"));
  CHECK(index.at("language") == "german");
  CHECK(keys_of(index.at("inverted_index")) == std::vector<std::string>{"datenbank", "haus"});
}

TEST_CASE("it is the same of a session that a segment knows, and of one that has grown since") {
  IndexedSession session;
  RandomEntries random(11);
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    for (int i = 0; i < 25; ++i) {
      session.add(random.next());
    }
    const std::string grown = made_text(session);
    session.forget_base();
    CHECK(made_text(session) == grown);
    session.flush();
    CHECK(made_text(session) == grown);
  }
}

TEST_CASE("a log that changes while its ids are read is an error") {
  IndexedSession session;
  add_example(session);
  const std::unique_ptr<SessionIndex> index = session.index();
  REQUIRE(index->refresh());
  const auto guard = index->lock();
  const std::string log = IndexedSession::log(EntryType::kFact);
  const std::string before = session.files.read(log);
  for (const std::string& after :
       {std::string(), fact("other", "other").text + "\n", "\n" + before}) {
    session.files.write(log, after);
    const auto failed = make_readable_index(*index, session.clock, "english");
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().code == ErrorCode::E_CONCURRENT_MOD);
  }
}

}  // namespace bmad_mem::test::readable_index_test
