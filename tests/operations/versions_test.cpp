#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "bmad_mem/knowledge.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::versions_test {

TEST_CASE("a correction keeps what it does not name") {
  MemoryFixture memory;
  memory.session();
  memory.add(EntryType::kDecision,
             R"({"id":"d","decision":"A","rationale":"R","tags":["t"],"pinned":true,"mine":1.00})");
  const Entry entry = memory->update_entry("d", R"({"decision":"B","rationale":null})").value();
  CHECK(entry.versions == 2);
  CHECK(entry.pinned);
  CHECK(entry.json.find(R"("decision":"B")") != std::string::npos);
  CHECK(entry.json.find(R"("mine":1.00)") != std::string::npos);
  CHECK(entry.json.find("rationale") == std::string::npos);
  CHECK(memory->update_entry("d", R"({"decision":"B"})").value().versions == 2);
  CHECK(memory->update_entry("d", R"({"id":"e"})").error().field == "id");
  CHECK(memory->update_entry("d", R"({"decision":""})").error().code ==
        ErrorCode::E_SCHEMA_INVALID);
  CHECK(memory->update_entry("e", R"({"decision":"B"})").error().code ==
        ErrorCode::E_ENTRY_NOT_FOUND);
  CHECK(memory->update_entry("d", "[]").error().code == ErrorCode::E_INVALID_QUERY);
  CHECK(memory->history("d").value().size() == 2);
}

TEST_CASE("of those who change different fields at the same time nobody is lost") {
  constexpr int kWriters = 4;
  constexpr int kFields = 10;
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f", "x");
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      MemoryManager own = MemoryManager::open({.root = memory.root()}).value();
      for (int k = 0; k < kFields; ++k) {
        const std::string change = fmt::format(R"({{"w{}_{}":1}})", i, k);
        CHECK(own.update_entry("f", change).has_value());
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  const std::vector<std::string> ids = {"f"};
  const Entry entry = memory->get(ids).value().front();
  CHECK(entry.versions == 1 + kWriters * kFields);
  for (int i = 0; i < kWriters; ++i) {
    for (int k = 0; k < kFields; ++k) {
      CHECK(entry.json.find(fmt::format(R"("w{}_{}":1)", i, k)) != std::string::npos);
    }
  }
}

TEST_CASE("a preference under a known key is a version of it, in any session") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  UserPreference style;
  style.key = "response_style";
  style.value = "concise";
  style.common.tags = {"t"};
  const std::string first = memory->update_preference("s1", style).value();
  style.value = "verbose";
  style.common.tags = {};
  CHECK(memory->update_preference("s2", style).value() == first);
  for (const std::size_t limit : {0U, 20U}) {
    CAPTURE(limit);
    const std::vector<Entry> current = memory->list({.limit = limit}).value();
    REQUIRE(current.size() == 1);
    CHECK(current[0].json.find(R"("value":"verbose","tags":["t"])") != std::string::npos);
    CHECK(memory->list({.with_outdated = true, .limit = limit}).value().size() == 2);
  }
  // What a stranger says stands beside it, and is not current.
  style.value = "rude";
  style.common.source = {.kind = "web", .trust = 0.3};
  CHECK(memory->update_preference("s2", style).value() != first);
  CHECK(memory->list({}).value().size() == 1);
  CHECK(memory->list({.limit = 0}).value().size() == 1);
  // A correction finds the version that holds.
  CHECK(memory->update_entry(first, R"({"value":"curt"})").value().session_id == "s2");
}

TEST_CASE("an entry with an id that is taken is refused, unless it is the very same") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  const auto add = [&](const char* session, std::string_view line) {
    return memory->add_batch(session, EntryType::kFact, {&line, 1},
                             {.known = KnownEntries::kRefuse});
  };
  constexpr std::string_view kLine =
      R"({"id":"f","timestamp":"2026-01-11T10:00:00Z","content":"x"})";
  CHECK(add("s1", kLine).value().ids.size() == 1);
  CHECK(add("s1", kLine).value().skipped == 1);
  CHECK(add("s1", R"({"id":"f","content":"y"})").error().code == ErrorCode::E_CONCURRENT_MOD);
  CHECK(add("s1", R"({"content":"y"})").value().ids.size() == 1);
  // The very same as an older version is another one than the newest.
  CHECK(memory->update_entry("f", R"({"content":"z"})").has_value());
  CHECK(add("s1", kLine).error().code == ErrorCode::E_CONCURRENT_MOD);
}

TEST_CASE("a pin is a version that changes nothing else") {
  MemoryFixture memory;
  memory.session();
  memory.add(EntryType::kFact, R"({"id":"f","content":"x","mine":1.00})");
  const std::vector<std::string> ids = {"f", "g"};
  const PinReport report = memory->pin(ids).value();
  REQUIRE(report.changed.size() == 1);
  CHECK(report.changed[0].pinned);
  CHECK(report.unknown_ids == std::vector<std::string>{"g"});
  const std::vector<Entry> versions = memory->history("f").value();
  REQUIRE(versions.size() == 2);
  CHECK(versions[1].json.find("\"mine\":1.00") != std::string::npos);
  CHECK(versions[1].pinned);
  CHECK(memory->pin(ids).value().unchanged.size() == 1);
  CHECK(memory->pin(ids, false).value().changed.size() == 1);
  CHECK_FALSE(memory->list({}).value()[0].pinned);
}

TEST_CASE("an id that several sessions know is pinned in all, or in those asked for") {
  MemoryFixture memory;
  for (const char* session : {"s1", "s2"}) {
    memory.session(session);
    memory.add_fact("f", "x", session);
  }
  const std::vector<std::string> ids = {"f"};
  const std::vector<std::string> one = {"s1"};
  CHECK(memory->pin(ids, true, one).value().changed.size() == 1);
  CHECK(memory->pin(ids).value().changed.size() == 1);
}

TEST_CASE("a document is kept without its secrets, and an entry points to it") {
  MemoryFixture memory;
  memory.session();
  const std::string secret = "gh" + std::string("p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
  ArtifactEntry entry;
  entry.path = "docs/design.md";
  entry.title = "Design";
  const std::string id = memory->add_artifact_document("s1", entry, "use " + secret).value();
  CHECK(memory.read("artifacts/" + id + ".md") == "use [REDACTED:github-pat]");
  CHECK(memory->list({}).value()[0].id == id);
  CHECK(memory->find_text(secret).value().empty());
}

TEST_CASE("a document that is too large, or no text, changes nothing") {
  MemoryFixture memory;
  memory.session();
  ArtifactEntry entry;
  entry.path = "x";
  entry.title = "x";
  const std::string large(MemoryManager::kArtifactSizeMax + 1, 'x');
  CHECK(memory->add_artifact_document("s1", entry, large).error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(memory->add_artifact_document("s1", entry, "\xff").error().code ==
        ErrorCode::E_INVALID_FORMAT);
  entry.common.id = "../x";
  CHECK(memory->add_artifact_document("s1", entry, "x").error().field == "id");
  CHECK(memory->add_artifact_document("none", {}, "x").error().code ==
        ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(memory->list({}).value().empty());
}

TEST_CASE("the user's own memory answers beside the project's, which comes first") {
  MemoryFixture users;
  users.session("own");
  users.add(EntryType::kPreference, R"({"id":"p1","key":"commits","value":"short subjects"})",
            "own");
  users.add(EntryType::kPreference, R"({"id":"p2","key":"tests","value":"tests first"})", "own");
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1", "boats lie in the harbour");
  REQUIRE(memory.reopen({.user_root = users.root()}).has_value());
  const auto values = [&] {
    std::string all;
    const auto items = Knowledge(*memory).recall({.note_accesses = false}).value();
    for (const KnowledgeItem& item : items) {
      all += item.key + (item.of_user ? "+ " : " ");
    }
    return all;
  };
  CHECK(values().find("tests+") != std::string::npos);
  CHECK(memory->query({.text = "subjects"}).value().front().entry.of_user);
  const std::string told = Knowledge(*memory).context({}).value().markdown;
  CHECK(told.find("short subjects") != std::string::npos);
  CHECK(told.find("tests first") != std::string::npos);

  memory.clock.advance(-std::chrono::hours(24));  // What is older holds here all the same.
  memory.add(EntryType::kPreference, R"({"id":"q","key":"commits","value":"long subjects"})");
  CHECK(values().find("commits+") == std::string::npos);
  const std::vector<Hit> hits = memory->query({.text = "subjects"}).value();
  REQUIRE(hits.size() == 2);
  CHECK(hits[0].entry.id == "q");
  CHECK(hits[1].outdated);
  CHECK(Knowledge(*memory).context({}).value().markdown.find("short subjects") ==
        std::string::npos);
  const std::vector<std::string> own = {"own"};
  CHECK(memory->list({.sessions = own}).value().size() == 2);
  CHECK(memory->load_session("own").has_value());
}

TEST_CASE("a move that was stopped between its two steps is finished by the next") {
  MemoryFixture users;
  MemoryFixture memory;
  memory.session();
  memory.add(EntryType::kPreference, R"({"id":"p","key":"commits","value":"short"})");
  const std::vector<std::string> ids = {"p", "none"};
  const std::string line = memory->get({ids.data(), 1}).value().front().json;
  users.session("own");
  users.add(EntryType::kPreference, line, "own");
  const MoveReport report = memory->move_entries(ids, *users).value();
  CHECK(report.moved.size() == 1);
  CHECK(report.session_id == "own");
  CHECK(report.unknown_ids == std::vector<std::string>{"none"});
  CHECK(users->history("p").value().size() == 1);
  CHECK(memory->history("p").value().empty());
  CHECK(memory->undelete({.ids = {"p"}, .sessions = {}}).value().lines == 1);

  users.add(EntryType::kPreference, R"({"id":"p","key":"commits","value":"another"})", "own");
  CHECK(memory->move_entries({ids.data(), 1}, *users).error().code == ErrorCode::E_CONCURRENT_MOD);
  CHECK(memory->history("p").value().size() == 1);

  CHECK(users->move_entries({ids.data(), 1}, *users).error().code == ErrorCode::E_INVALID_QUERY);
  CHECK(users->list({.sessions = {"own"}}).value().size() == 1);
}

}  // namespace bmad_mem::test::versions_test
