// search_test.cpp - what a query promises, one thing at a time. That all of it together is right is
// for search_twin_test.cpp.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "support/limit.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::search_test {
namespace {

using Ids = std::vector<std::string>;

Ids ids_of(const std::vector<Hit>& hits) {
  Ids ids;
  for (const Hit& hit : hits) {
    ids.push_back(hit.entry.id);
  }
  return ids;
}

Ids find(MemoryFixture& memory, const Query& query) { return ids_of(memory->query(query).value()); }

Ids sorted(Ids ids) {
  std::ranges::sort(ids);
  return ids;
}

void add_at(MemoryFixture& memory, const std::string& id, const std::string& content,
            const std::string& time, const std::string& members = "") {
  memory.add(EntryType::kFact, fmt::format(R"({{"id":"{}","timestamp":"{}","content":"{}"{}}})", id,
                                           time, content, members));
}

/// A message of conversation c1.
void say(MemoryFixture& memory, const std::string& id, const std::string& content,
         const std::string& who = "ann", const std::string& role = "user") {
  memory.add(EntryType::kConversation,
             fmt::format(R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","role":"{}",)"
                         R"("agent_id":"{}","content":"{}","context":{{"conversation_id":"c1"}}}})",
                         id, role, who, content));
}

const RelevanceWeights kTextOnly{.text = 1, .time = 0, .importance = 0, .access = 0};

}  // namespace

TEST_CASE("words are alternatives, and more of them is better") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("both", "postgres ledger");
  memory.add_fact("one", "postgres cache");
  memory.add_fact("none", "mongo");
  CHECK(find(memory, {.text = "ledger postgres"}) == Ids{"both", "one"});
}

TEST_CASE("required, excluded, phrases, prefixes and fuzzy words choose what they say") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "the connection pool of postgres");
  memory.add_fact("b", "a pool for each connection");
  memory.add_fact("c", "decisions about hikari");
  CHECK(sorted(find(memory, {.text = "+pool +connection"})) == Ids{"a", "b"});
  CHECK(find(memory, {.text = "pool -postgres"}) == Ids{"b"});
  CHECK(find(memory, {.text = "\"connection pool\""}) == Ids{"a"});
  CHECK(find(memory, {.text = "pool -\"connection pool\""}) == Ids{"b"});
  CHECK(sorted(find(memory, {.text = "conn*"})) == Ids{"a", "b"});
  CHECK(find(memory, {.text = "hikary~"}) == Ids{"c"});
}

TEST_CASE("a prefix that is a whole word finds that word, whose stem is shorter") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "a decision");
  memory.add_fact("b", "other");
  CHECK(find(memory, {.text = "decision*"}) == Ids{"a"});
  CHECK(find(memory, {.text = "decisions*"}) == Ids{"a"});
}

TEST_CASE("a prefix or a fuzzy word that stands for nothing finds nothing") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "postgres");
  CHECK(find(memory, {.text = "zzz*"}).empty());
  CHECK(find(memory, {.text = "zzzzzz~"}).empty());
  CHECK(find(memory, {.text = "+zzz* postgres"}).empty());
  CHECK(find(memory, {.text = "zzz* postgres"}) == Ids{"a"});
  CHECK(find(memory, {.text = "postgres -zzz*"}) == Ids{"a"});
}

TEST_CASE("a word that nobody wrote stands beside those one slip away") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "postgres");
  CHECK(find(memory, {.text = "postgers"}) == Ids{"a"});
  // At half weight, so that what is known counts more.
  memory.add_fact("b", "ledger");
  CHECK(find(memory, {.text = "postgers ledger"}) == Ids{"b", "a"});
  CHECK(memory->ask({.text = "postgers"}).value().instead.size() == 1);
  // Stems are compared through the words they stand for.
  memory.add_fact("c", "the fence is painted");
  CHECK(find(memory, {.text = "fnce"}) == Ids{"c"});
  CHECK(find(memory, {.text = "fncee"}).empty());  // Two slips.
  CHECK(find(memory, {.text = "aence"}).empty());  // The first letter.
}

TEST_CASE("a session named twice is searched once") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "postgres");
  const Hit once = memory->query({.text = "postgres session:s1"}).value().at(0);
  const std::vector<Hit> twice = memory->query({.text = "postgres session:s1 session:s1"}).value();
  REQUIRE(twice.size() == 1);
  CHECK(twice[0].relevance == once.relevance);
}

TEST_CASE("without weights, time, importance and access are factors of the text") {
  MemoryFixture memory;
  memory.session();
  add_at(memory, "a", "postgres", "2025-01-01T10:00:00Z",
         R"(,"last_accessed":"2026-01-11T09:00:00Z")");
  memory.add_fact("b", "ledger seats");
  const Hit hit = memory->query({.text = "postgres pool"}).value().at(0);
  CHECK(hit.combine == RelevanceCombine::kFactors);
  CHECK(hit.relevance == doctest::Approx(hit.components.text * (0.96 + 0.04 * hit.components.time) *
                                         (0.8 + 0.2 * hit.components.importance) *
                                         (0.95 + 0.05 * hit.components.access)));
  const Query sum{.text = "postgres pool", .combine = RelevanceCombine::kSum};
  CHECK(memory->query(sum).value().at(0).combine == RelevanceCombine::kSum);
}

TEST_CASE("an old answer stands before what is new and shares a word") {
  MemoryFixture memory;
  memory.session();
  add_at(memory, "answer",
         "Our Stripe webhook secret lives in the vault, rotate it with the rotate-webhook script",
         "2025-10-01T10:00:00Z", "");
  for (int i = 0; i < 8; ++i) {
    add_at(memory, fmt::format("n{}", i), "standup note: fixed a typo in the webhook readme",
           "2026-01-11T09:00:00Z", R"(,"pinned":true)");
  }
  const Ids found = find(memory, {.text = "how do I rotate the Stripe webhook secret?"});
  REQUIRE(found.size() == 9);
  CHECK(found.front() == "answer");
}

TEST_CASE("what was replaced, and what nobody accepted, stands behind what holds") {
  MemoryFixture memory;
  memory.session();
  const auto state = [&](std::string_view id, std::string_view value, std::string_view extra) {
    memory.add(EntryType::kPreference,
               fmt::format(R"({{"id":"{}","key":"deploy","value":"{}"{}}})", id, value, extra));
  };
  state("old", "deploy on friday", R"(,"timestamp":"2026-01-11T08:00:00Z")");
  state("new", "deploy on friday until noon", R"(,"timestamp":"2026-01-11T09:00:00Z")");
  state("guess", "deploy on friday", R"(,"timestamp":"2026-01-11T09:30:00Z","review":"candidate")");
  const std::vector<Hit> hits = memory->query({.text = "deploy friday"}).value();
  REQUIRE(hits.size() == 3);
  CHECK(hits[0].entry.id == "new");
  CHECK(!hits[0].outdated);
  CHECK(hits[1].outdated);
  CHECK(hits[2].outdated);
}

TEST_CASE("a newer statement that is less trusted or a candidate replaces none") {
  // With many statements among the hits their rows are read at once; with few, line by line.
  for (const int others : {0, 200}) {
    CAPTURE(others);
    MemoryFixture memory;
    memory.session();
    const auto state = [&](std::string_view id, std::string_view key, std::string_view extra) {
      memory.add(EntryType::kPreference,
                 fmt::format(R"({{"id":"{}","key":"{}","value":"deploy on friday","timestamp":)"
                             R"("2026-01-11T0{}}})",
                             id, key, extra));
    };
    for (int i = 0; i < others; ++i) {
      state(fmt::format("o{}", i), fmt::format("other{}", i), R"(7:00:00Z")");
    }
    state("stated", "deploy", R"(8:00:00Z")");
    state("heard", "deploy", R"(9:00:00Z","source":{"kind":"web","trust":0.2})");
    state("guess", "deploy", R"(9:30:00Z","review":"candidate")");
    std::set<std::string> outdated;
    const Query query{.text = "deploy friday", .filter = {.limit = 0}};
    const std::vector<Hit> hits = memory->query(query).value();
    for (const Hit& hit : hits) {
      if (hit.outdated) {
        outdated.insert(hit.entry.id);
      }
    }
    CHECK(outdated == std::set<std::string>{"guess", "heard"});
  }
}

TEST_CASE("a phrase prefers, and its words rank where nothing holds it") {
  MemoryFixture memory;
  memory.session();
  say(memory, "m1", "Mara plays Starfeld every evening");
  say(memory, "m2", "and sleeps late");
  memory.add_fact("f", "Mara sold the boat");
  CHECK(find(memory, {.text = R"(what game is "Starfield" that Mara plays?)"}).front() == "m1");
  // Neighbours hold it as well as the message itself.
  CHECK(find(memory, {.text = R"("plays starfeld" late)"}) == Ids{"m1", "m2"});
  CHECK(find(memory, {.text = R"(+"plays starfeld")"}) == Ids{"m1"});
  CHECK(find(memory, {.text = R"(+"plays starfield")"}).empty());
}

TEST_CASE("who is named and nothing that is known: what they said last, marked as weak") {
  MemoryFixture memory;
  memory.session();
  say(memory, "m1", "we take postgres", "ann");
  say(memory, "m2", "and a cache", "bob");
  say(memory, "m3", "the boat is wet", "ann");
  const std::vector<Hit> hits =
      memory->query({.text = "what does Ann think of xylophones"}).value();
  REQUIRE(hits.size() == 2);
  CHECK(hits[0].entry.id == "m3");
  CHECK(hits[0].weak);
}

TEST_CASE("the same entry in two sessions is one hit") {
  MemoryFixture memory;
  for (const char* session : {"s1", "s2"}) {
    memory.session(session);
    memory.add(EntryType::kFact, R"({"id":"f","content":"postgres"})", session);
  }
  CHECK(find(memory, {.text = "postgres"}) == Ids{"f"});
}

TEST_CASE("relevance is the weighted sum of its components") {
  MemoryFixture memory;
  memory.session();
  add_at(memory, "a", "postgres", "2025-01-01T10:00:00Z",
         R"(,"last_accessed":"2026-01-11T09:00:00Z")");
  const RelevanceWeights weights{.text = 0.1, .time = 0.2, .importance = 0.3, .access = 0.4};
  const Hit hit = memory->query({.text = "postgres", .weights = weights}).value().at(0);
  CHECK(hit.components.importance == 0.7);
  CHECK(hit.components.access == doctest::Approx(std::exp(-0.05)));
  CHECK(hit.components.time < 1);
  CHECK(hit.relevance ==
        doctest::Approx(0.1 * hit.components.text + 0.2 * hit.components.time +
                        0.3 * hit.components.importance + 0.4 * hit.components.access));
}

TEST_CASE("the parts of an explanation add up to the text component") {
  MemoryFixture memory;
  memory.session();
  say(memory, "m1", "which ledger do we take?", "bob", "assistant");
  say(memory, "m2", "we take postgres");
  say(memory, "m3", "and a cache", "bob");
  memory.add_fact("f", "postgres ledger");
  for (const TextRanking ranking : {TextRanking::kContext, TextRanking::kPlain}) {
    const std::vector<Hit> hits =
        memory
            ->query({.text = "what did ann say of ledger and postgres on 11 January 2026",
                     .ranking = ranking,
                     .explain = true})
            .value();
    REQUIRE(hits.size() >= 3);
    for (const Hit& hit : hits) {
      REQUIRE(hit.explanation.has_value());
      double sum = hit.explanation->question + hit.explanation->asks + hit.explanation->speaker +
                   hit.explanation->date;
      for (const TermScore& term : hit.explanation->terms) {
        sum += term.entry + term.window + term.session;
      }
      CHECK(std::clamp(sum, 0.0, 1.0) == doctest::Approx(hit.components.text).epsilon(1e-12));
    }
    if (ranking == TextRanking::kContext) {
      const auto answer = std::ranges::find(hits, "m2", [](const Hit& h) { return h.entry.id; });
      REQUIRE(answer != hits.end());
      CHECK(answer->explanation->question > 0);
      CHECK(answer->explanation->speaker > 0);
      CHECK(answer->explanation->date > 0);
    }
  }
}

TEST_CASE("what lies below min_relevance is left out") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("both", "postgres ledger");
  memory.add_fact("one", "postgres with a lot of other words that make it longer");
  const std::vector<Hit> all =
      memory->query({.text = "postgres ledger", .weights = kTextOnly}).value();
  REQUIRE(all.size() == 2);
  Query query{.text = "postgres ledger", .weights = kTextOnly};
  query.min_relevance = all[0].relevance;
  CHECK(find(memory, query) == Ids{"both"});
  query.text = "postgres ledger seats gates fares ships";
  query.min_relevance = 1;
  CHECK(find(memory, query).empty());
}

TEST_CASE("a query that takes longer than it may is given up") {
  MemoryFixture memory;
  memory.session();
  std::vector<std::string> lines;
  for (int i = 0; i < 8000; ++i) {
    lines.push_back(MemoryFixture::fact(fmt::format("f{}", i), "the connection pool is full"));
  }
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  REQUIRE(memory->add_batch("s1", EntryType::kFact, views).has_value());
  // Each line must be read for the phrase, which takes longer than a millisecond.
  const auto late = memory->query({.text = "\"connection pool\" -\"x y\"",
                                   .filter = {.limit = 0},
                                   .timeout = std::chrono::milliseconds(1)});
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().code == ErrorCode::E_QUERY_TIMEOUT);
  CHECK(memory->query({.text = "pool", .timeout = std::chrono::hours(1)}).has_value());
}

TEST_CASE("context gives the entries before and after a hit in its conversation") {
  MemoryFixture memory;
  memory.session();
  for (int i = 1; i <= 5; ++i) {
    say(memory, fmt::format("m{}", i), fmt::format("word{}", i));
    memory.add(EntryType::kConversation,
               fmt::format(R"({{"id":"x{}","role":"user","content":"another conversation"}})", i));
  }
  Query query{.text = "word3", .weights = kTextOnly, .ranking = TextRanking::kPlain};
  query.context = 3;
  const Hit hit = memory->query(query).value().at(0);
  const auto ids = [](const std::vector<Entry>& entries) {
    Ids all;
    for (const Entry& entry : entries) {
      all.push_back(entry.id);
    }
    return all;
  };
  CHECK(ids(hit.before) == Ids{"m1", "m2"});
  CHECK(ids(hit.after) == Ids{"m4", "m5"});
  query.context = 1;
  const Hit narrow = memory->query(query).value().at(0);
  CHECK(ids(narrow.before) == Ids{"m2"});
  CHECK(ids(narrow.after) == Ids{"m4"});
}

TEST_CASE("of a long run of sensitive neighbours none is shown, whatever was read of the index") {
  MemoryFixture memory;
  memory.session();
  for (int i = 0; i < 600; ++i) {
    const bool is_hit = i == 300;
    memory.add(
        EntryType::kConversation,
        fmt::format(R"({{"id":"m{}","timestamp":"2026-01-11T10:00:00Z","role":"user",)"
                    R"("content":"{}","context":{{"conversation_id":"c1"}},"sensitive":{}}})",
                    i, is_hit ? "a zebra" : "secret", !is_hit));
  }
  memory->rebuild_index().value();
  memory.reopen();
  const std::vector<Hit> hits =
      memory->query({.text = "zebra", .filter = {.without_sensitive = true}, .context = 1}).value();
  REQUIRE(!hits.empty());
  CHECK(hits[0].entry.id == "m300");
  CHECK(hits[0].before.empty());
  CHECK(hits[0].after.empty());
}

TEST_CASE("without the sensitive ones neither hits nor neighbours are sensitive") {
  MemoryFixture memory;
  memory.session();
  for (int i = 1; i <= 4; ++i) {
    memory.add(EntryType::kConversation,
               fmt::format(R"({{"id":"m{}","role":"user","content":"pool {}",)"
                           R"("context":{{"topic":"t"}},"sensitive":{}}})",
                           i, i == 1 ? "one" : "other", i == 2));
  }
  const EntryFilter without{.without_sensitive = true};
  for (const char* state : {"scanned", "indexed"}) {
    CAPTURE(state);
    memory.reopen();
    CHECK(sorted(find(memory, {.text = "pool"})) == Ids{"m1", "m2", "m3", "m4"});
    CHECK(sorted(find(memory, {.text = "pool", .filter = without})) == Ids{"m1", "m3", "m4"});
    const Hit hit =
        memory
            ->query(
                {.text = "one", .filter = without, .ranking = TextRanking::kPlain, .context = 1})
            .value()
            .at(0);
    CHECK_FALSE(hit.entry.sensitive);
    REQUIRE(hit.after.size() == 1);
    CHECK(hit.after[0].id == "m3");
    CHECK(memory->query({.text = "pool"}).value().size() == 4);
    const std::vector<RelatedEntry> related = memory->related("m1", without).value();
    CHECK(related.size() == 2);
    CHECK(std::ranges::none_of(related,
                               [](const RelatedEntry& each) { return each.entry.sensitive; }));
    CHECK(memory->topics(without).value().at(0).entries == 3);
    memory->rebuild_index().value();
  }
}

TEST_CASE("age counts, but not when the question names a time") {
  MemoryFixture memory;
  memory.session();
  add_at(memory, "old", "postgres", "2025-06-10T10:00:00Z");
  add_at(memory, "new", "postgres", "2026-01-11T09:00:00Z");
  CHECK(find(memory, {.text = "postgres"}) == Ids{"new", "old"});
  const std::vector<Hit> named = memory->query({.text = "postgres in June 2025"}).value();
  CHECK(ids_of(named) == Ids{"old", "new"});
  CHECK(named[0].components.time == 1);
  const std::vector<Hit> since =
      memory->query({.text = "postgres", .filter = {.since = Timestamp{}}}).value();
  CHECK(since[0].components.time == 1);
  CHECK(since[1].components.time == 1);
}

TEST_CASE("a turn is found through the turns around it; by time only what holds a word itself") {
  MemoryFixture memory;
  memory.session();
  say(memory, "m1", "which database for the ledger?");
  say(memory, "m2", "yes, that one");
  CHECK(sorted(find(memory, {.text = "ledger"})) == Ids{"m1", "m2"});
  CHECK(find(memory, {.text = "ledger", .sort = SortOrder::kTimeDesc}) == Ids{"m1"});
  CHECK(find(memory, {.text = "ledger", .ranking = TextRanking::kPlain}) == Ids{"m1"});
}

TEST_CASE("equal hits come newest first, then the later line") {
  MemoryFixture memory;
  memory.session();
  add_at(memory, "a", "postgres", "2026-01-11T10:00:00Z");
  add_at(memory, "b", "postgres", "2026-01-11T10:00:00Z");
  add_at(memory, "c", "postgres", "2026-01-11T10:00:01Z");
  const Query query{.text = "postgres", .weights = kTextOnly};
  CHECK(find(memory, query) == Ids{"c", "b", "a"});
  CHECK(find(memory, {.text = "postgres", .sort = SortOrder::kTimeAsc}) == Ids{"b", "a", "c"});
}

TEST_CASE("rebuild-index writes what people read, or leaves index.json as it was") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1", "postgres pool");
  memory.add_fact("f1", "postgres pools");
  const IndexReport report = memory->rebuild_index().value().at(0);
  const std::string text = memory.read("index.json");
  CHECK(report.entries == 1);
  CHECK(report.index_bytes == text.size());
  CHECK(report.log_bytes == memory.read(EntryType::kFact).size());
  CHECK(text.find(R"("postgr": ["f1"])") != std::string::npos);
  std::filesystem::create_directory(memory.path("index.json.tmp"));
  memory.add_fact("f2", "heron");
  CHECK_FALSE(memory->rebuild_index(std::vector<std::string>{"s1"}).has_value());
  CHECK(memory.read("index.json") == text);
  CHECK(find(memory, {.text = "heron"}) == Ids{"f2"});
}

TEST_CASE("what is deleted or closed stands in index.json as it is") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1", "postgres pool");
  memory.add_fact("f2", "grey heron");
  memory->close_session("s1").value();
  CHECK(memory.read("index.json").find("heron") != std::string::npos);
  memory->delete_entries({.ids = {"f2"}}, {.purge = true}).value();
  CHECK_FALSE(std::filesystem::exists(memory.path("index.json")));
  memory->close_session("s1").value();
  CHECK(memory.read("index.json").find("heron") == std::string::npos);
  memory->archive_session("s1").value();
  CHECK(memory.folder.read("memory/archive/s1.index.json").find("postgr") != std::string::npos);
}

TEST_CASE("a search over more sessions than a process may have open files finds all of them") {
  MemoryFixture memory;
  constexpr std::size_t kSessions = 350;
  for (std::size_t i = 0; i < kSessions; ++i) {
    const std::string id = memory.session(fmt::format("s{}", i));
    memory.add_fact(fmt::format("f{}", i), "postgres pool", id);
  }
  memory->rebuild_index().value();
  memory.reopen();
  const Limit limit(RLIMIT_NOFILE, 340);
  CHECK(find(memory, {.text = "pool", .filter = {.limit = 0}}).size() == kSessions);
  CHECK(find(memory, {.text = "\"postgres pool\"", .filter = {.limit = 0}}).size() == kSessions);
}

TEST_CASE("related: references both ways, then its topic, then what reads like it") {
  MemoryFixture memory;
  memory.session();
  memory.session("s2");
  memory.add(EntryType::kFinding, R"({"id":"named","description":"unlike anything"})");
  memory.add(EntryType::kDecision,
             R"({"id":"asked","decision":"postgres for the ledger","topic":"storage",)"
             R"("references":{"findings":["named"]}})");
  memory.add(EntryType::kFinding,
             R"({"id":"naming","description":"quite different",)"
             R"("references":{"decisions":["asked"]}})",
             "s2");
  memory.add(EntryType::kFact, R"({"id":"topical","content":"disks","topic":"storage"})");
  memory.add(EntryType::kFact, R"({"id":"alike","content":"the ledger needs postgres"})", "s2");
  memory.add(EntryType::kFact, R"({"id":"far","content":"breakfast"})");
  const std::vector<RelatedEntry> related = memory->related("asked", {}).value();
  std::vector<std::string> lines;
  for (const RelatedEntry& each : related) {
    lines.push_back(fmt::format("{} {}", each.entry.id, relation_name(each.relation)));
  }
  CHECK(lines ==
        Ids{"named references", "naming referenced_by", "topical same_topic", "alike similar"});
  CHECK(memory->related("asked", {.limit = 1}).value().size() == 1);
  CHECK(memory->related("asked", {.types = {EntryType::kFact}}).value().size() == 2);
  CHECK(code_of(memory->related("nobody", {})) == ErrorCode::E_ENTRY_NOT_FOUND);
}

TEST_CASE("a query of nothing but signs and stop words finds nothing and says so") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "postgres");
  for (const char* text : {"the of", "!!"}) {
    const QueryAnswer answer = memory->ask({.text = text}).value();
    CHECK(answer.hits.empty());
    CHECK(answer.instead.size() == 1);
  }
  CHECK(find(memory, {.text = "the of", .text_is_prose = true}).empty());
  CHECK(find(memory, {.text = "the type:fact"}) == Ids{"a"});
}

TEST_CASE("who opens a memory without noting accesses leaves no trace by reading") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("fact-1", "the ledger counts cents");
  REQUIRE(memory.reopen({.note_accesses = false}));
  CHECK(memory.found("ledger").size() == 1);
  CHECK(memory->get(std::vector<std::string>{"fact-1"}).value().size() == 1);
  memory.reopen();  // What is noted is written when a memory is closed.
  CHECK(memory.read("access.jsonl").empty());
  CHECK(memory.found("ledger").size() == 1);
  memory.reopen();
  CHECK_FALSE(memory.read("access.jsonl").empty());
}

}  // namespace bmad_mem::test::search_test
