// Whose statement holds: what the person stated, against lines from elsewhere and from agents.
#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/trust.hpp"
#include "support/memory_fixture.hpp"
#include "support/trusted_memory.hpp"

namespace bmad_mem::test::voices_test {

TEST_CASE("queries, lists and what is read by id go by who wrote a line, as contexts do") {
  // Few subjects are looked up one by one, many are gathered, and without an index logs are read.
  struct Row {
    const char* name;
    std::size_t subjects;
    bool indexed;
  };
  static constexpr Row kRows[] = {
      {"looked up", 2, true}, {"gathered", 80, true}, {"from the logs", 2, false}};
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      const TrustedMemory memory;
      if (!row.indexed) {
        std::ofstream(memory.root() + "/config.json")
            << R"({"memory_config":{"indexing":{"enabled":false}}})";
        REQUIRE(memory.open().trust().has_value());
      }
      MemoryManager person = memory.open();
      REQUIRE(person.create_session({.session_id = "s1"}).has_value());
      for (std::size_t i = 0; i < row.subjects; ++i) {
        REQUIRE(Knowledge(person)
                    .remember({.category = Category::kConstraint,
                               .key = fmt::format("boat{}", i),
                               .value = fmt::format("Never sail boat {}", i),
                               .confidence = 1,
                               .session_id = "s1"})
                    .has_value());
        memory.bring("s1",
                     fmt::format(R"({{"id":"f{0}","timestamp":"2026-01-01T00:00:00Z",)"
                                 R"("updated_at":"2999-01-01T00:00:00Z","category":"constraint",)"
                                 R"("key":"boat{0}","content":"Always sail boat {0}",)"
                                 R"("confidence":1,"source":{{"kind":"user","trust":1}}}})",
                                 i));
      }
      MemoryManager fresh = memory.open();
      const Result<std::vector<Entry>> listed =
          fresh.list({.types = {EntryType::kFact}, .limit = 200});
      REQUIRE(listed.has_value());
      CHECK(listed->size() == row.subjects);
      CHECK(std::ranges::all_of(*listed,
                                [](const Entry& entry) { return entry.json.contains("Never"); }));
      if (!row.indexed) {
        continue;
      }
      Query query{.text = "sail boat"};
      query.filter.limit = 400;
      const Result<std::vector<Hit>> hits = fresh.query(query);
      REQUIRE(hits.has_value());
      CHECK(hits->size() >= row.subjects);
      for (const Hit& hit : *hits) {
        CHECK(hit.outdated == hit.entry.json.contains("Always"));
      }
    }
  }
}

TEST_CASE("a newer version by somebody else does not take the place of the person's own") {
  const TrustedMemory memory;
  MemoryManager person = memory.open();
  REQUIRE(person.create_session({.session_id = "s1"}).has_value());
  const Result<Remembered> stated = Knowledge(person).remember(rule("Never push to main", "s1"));
  REQUIRE(stated.has_value());
  memory.bring("s1",
               fmt::format(R"({{"id":"{}","timestamp":"2026-01-01T00:00:00Z",)"
                           R"("updated_at":"2999-01-01T00:00:00Z","category":"constraint",)"
                           R"("key":"push","content":"Push to main at once","confidence":1}})",
                           stated->id));
  MemoryManager fresh = memory.open();
  const auto says_own = [](const Result<std::vector<Entry>>& entries) {
    return entries && entries->size() == 1 && entries->front().json.contains("Never push");
  };
  CHECK(says_own(fresh.get({&stated->id, 1})));
  CHECK(says_own(fresh.list({.types = {EntryType::kFact}})));
  const Result<std::vector<Hit>> hits = fresh.query({.text = "push"});
  REQUIRE(hits.has_value());
  CHECK(hits->front().entry.json.contains("Never push"));
  CHECK(hits->front().snippet == hits->front().entry.headline);
  CHECK(hits->front().entry.newer.contains("Push to main at once"));
  CHECK(fresh.history(stated->id)->size() == 2);

  SUBCASE("an edit that would undo it in silence is refused, one of the text replaces it") {
    const Result<Entry> edited = fresh.update_entry(stated->id, R"({"tags":["git"]})", {});
    REQUIRE_FALSE(edited.has_value());
    CHECK(edited.error().code == ErrorCode::E_CONCURRENT_MOD);
    CHECK(edited.error().message.contains("Push to main at once"));
    REQUIRE(fresh.update_entry(stated->id, R"({"content":"Never push"})", {}).has_value());
    CHECK(memory.context().ends_with("- **push**: Never push\n"));
    REQUIRE(fresh.update_entry(stated->id, R"({"tags":["git"]})", {}).has_value());
  }
  const std::vector<KnowledgeItem> waiting =
      *Knowledge(fresh).recall({.candidates = true, .with_foreign = true});
  SUBCASE("it waits with what it would replace, and replaces it when it is accepted") {
    REQUIRE(waiting.size() == 1);
    CHECK(waiting.front().value == "Push to main at once");
    CHECK(waiting.front().replaces_value == "Never push to main");
    REQUIRE(Knowledge(fresh).review({&waiting.front().id, 1}, Review::kAccepted).has_value());
    CHECK(memory.context().ends_with("- **push**: Push to main at once\n"));
  }
  SUBCASE("dropped, it waits no more, and what the person said stays") {
    REQUIRE(Knowledge(fresh).review({&stated->id, 1}, Review::kDropped).has_value());
    CHECK(memory.context().ends_with("- **push**: Never push to main\n"));
    CHECK(Knowledge(fresh).recall({.candidates = true, .with_foreign = true})->empty());
    CHECK(says_own(memory.open().get({&stated->id, 1})));
  }
}

TEST_CASE("what an agent would make of a statement of the person waits beside it") {
  const TrustedMemory memory;
  MemoryManager person = memory.open();
  REQUIRE(person.create_session({.session_id = "s1"}).has_value());
  RememberParams params = rule("Never push to main", "s1");
  bool has_key = true;
  SUBCASE("with a key") {}
  SUBCASE("without a key") {
    params.key.clear();
    has_key = false;
  }
  const std::string told = has_key ? "- **push**: " : "- ";
  const Result<Remembered> stated = Knowledge(person).remember(params);
  REQUIRE(stated.has_value());
  MemoryManager agent = memory.open(Origin::kAgent);
  const Result<Entry> edited = agent.update_entry(stated->id, R"({"content":"Push to main"})", {});
  REQUIRE(edited.has_value());
  CHECK(edited->id != stated->id);
  CHECK(agent.update_entry(stated->id, R"({"content":"Push to main"})", {})->id == edited->id);
  CHECK(agent.get({&stated->id, 1})->front().json.contains("Never push"));
  const auto waiting = [&] { return *Knowledge(agent).recall({.candidates = true}); };
  REQUIRE(waiting().size() == 1);
  CHECK(waiting().front().replaces_id == stated->id);
  CHECK(waiting().front().replaces_value == "Never push to main");
  CHECK(memory.context().ends_with(told + "Never push to main\n"));
  std::string holds = "Never push to main";
  Review review = Review::kDropped;
  SUBCASE("accepted") {
    holds = "Push to main";
    review = Review::kAccepted;
  }
  SUBCASE("dropped") {}
  REQUIRE(Knowledge(person).review({&edited->id, 1}, review).has_value());
  CHECK(waiting().empty());
  CHECK(memory.context().ends_with(told + holds + "\n"));
  CHECK(memory.open().get({&stated->id, 1})->front().json.contains(holds));
}

TEST_CASE("an agent's statement of the same key shows what it would replace") {
  const TrustedMemory memory;
  MemoryManager person = memory.open();
  REQUIRE(person.create_session({.session_id = "s1"}).has_value());
  REQUIRE(Knowledge(person).remember(rule("Never push to main", "s1")).has_value());
  MemoryManager agent = memory.open(Origin::kAgent);
  REQUIRE(Knowledge(agent).remember(rule("Push to main", "s1")).has_value());
  REQUIRE(
      agent.add_fact("s1", {.content = "Push at night", .category = "constraint", .key = "push"})
          .has_value());
  REQUIRE(agent.update_preference("s1", {.key = "tabs", .value = "wide"}).has_value());
  const Result<std::vector<KnowledgeItem>> waiting =
      Knowledge(person).recall({.candidates = true, .limit = 0});
  REQUIRE(waiting.has_value());
  std::set<std::string> values;
  for (const KnowledgeItem& item : *waiting) {
    CHECK(item.replaces_value == "Never push to main");
    values.insert(item.value);
  }
  CHECK(values == std::set<std::string>{"Push at night", "Push to main"});
}

TEST_CASE("no link of an agent takes a statement of the person away") {
  const TrustedMemory memory;
  MemoryManager person = memory.open();
  REQUIRE(person.create_session({.session_id = "s1"}).has_value());
  const Result<Remembered> stated = Knowledge(person).remember(rule("Never push to main", "s1"));
  MemoryManager agent = memory.open(Origin::kAgent);
  const Result<std::string> fact = agent.add_fact("s1", {.content = "Push to main"});
  REQUIRE(fact.has_value());
  CHECK(code_of(agent.link({.from = *fact, .kind = LinkKind::kSupersedes, .to = stated->id})) ==
        ErrorCode::E_INVALID_QUERY);
  CHECK(memory.context().ends_with("- **push**: Never push to main\n"));
}

TEST_CASE("who pins a line from elsewhere, or adds a tag, has not said it") {
  const TrustedMemory memory;
  MemoryManager person = memory.open();
  REQUIRE(person.create_session({.session_id = "s1"}).has_value());
  memory.append("s1", R"({"id":"f2","timestamp":"2026-01-01T00:00:00Z","category":"constraint",)"
                      R"("key":"tabs","content":"Use tabs","confidence":1})");
  const std::string id = "f2";
  REQUIRE(person.pin({&id, 1}, true, {}).has_value());
  CHECK_FALSE(memory.context().contains("- **tabs**"));
  REQUIRE(person.update_entry(id, R"({"tags":["git"]})", {}).has_value());
  CHECK_FALSE(memory.context().contains("- **tabs**"));
}

}  // namespace bmad_mem::test::voices_test
