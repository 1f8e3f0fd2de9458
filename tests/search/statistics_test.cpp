// statistics_test.cpp - counts are those of the logs as they are now.
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bmad_mem/clock.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::statistics_test {
namespace {

const TypeStatistics& of(const SessionStatistics& statistics, EntryType type) {
  return statistics.types.at(static_cast<std::size_t>(type));
}

}  // namespace

TEST_CASE("an empty session counts nothing") {
  MemoryFixture memory;
  memory.session();
  const SessionStatistics statistics = memory->statistics("s1").value();
  CHECK(statistics.session_id == "s1");
  CHECK(statistics.entries() == 0);
  CHECK(statistics.versions() == 0);
  CHECK(statistics.damaged_lines() == 0);
  CHECK(statistics.quarantined == 0);
  CHECK_FALSE(statistics.oldest.has_value());
  CHECK_FALSE(statistics.newest.has_value());
  CHECK(statistics.size_max_bytes == 10U << 20U);
  CHECK(statistics.size_bytes == memory.read("manifest.json").size());
}

TEST_CASE("entries, versions, damage, torn bytes and sizes are counted by type") {
  MemoryFixture memory;
  memory.session();
  const std::string bytes = MemoryFixture::fact("f1") + "\n" + MemoryFixture::fact("f2") +
                            "\nbroken\n\n" + MemoryFixture::fact("f1") + "\n{}\n" + "torn";
  memory.write(EntryType::kFact, bytes);
  memory.add(EntryType::kConversation,
             R"({"role":"user","content":"x","timestamp":"2025-12-31T00:00:00Z"})");
  memory.write("quarantine.jsonl", "{}\n{}\n");
  const SessionStatistics statistics = memory->statistics("s1").value();
  const TypeStatistics& facts = of(statistics, EntryType::kFact);
  CHECK(facts.type == EntryType::kFact);
  CHECK(facts.entries == 2);
  CHECK(facts.versions == 3);
  CHECK(facts.damaged_lines == 2);
  CHECK(facts.bytes == bytes.size());
  CHECK(facts.torn_bytes == 4);
  CHECK(statistics.entries() == 3);
  CHECK(statistics.versions() == 4);
  CHECK(statistics.damaged_lines() == 2);
  CHECK(statistics.quarantined == 2);
  CHECK(statistics.oldest == parse_rfc3339("2025-12-31T00:00:00Z").value());
  CHECK(statistics.newest == parse_rfc3339("2026-01-11T10:00:00Z").value());
  CHECK(statistics.size_bytes == bytes.size() + memory.read(EntryType::kConversation).size() +
                                     memory.read("manifest.json").size() + 6);
}

TEST_CASE("all sessions are counted, and those that cannot be are named") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  memory.add_fact("f1", "x", "s2");
  std::filesystem::create_symlink("s1", memory.root() + "/sessions/s3");
  const GlobalStatistics all = memory->global_statistics().value();
  REQUIRE(all.sessions.size() == 2);
  CHECK(all.sessions[0].entries() + all.sessions[1].entries() == 1);
  REQUIRE(all.problems.size() == 1);
  CHECK(all.problems[0].code == ErrorCode::E_SESSION_CORRUPT);
}

TEST_CASE("the size limit is that of the config") {
  MemoryFixture memory;
  memory.folder.write("memory/config.json",
                      R"({"memory_config":{"storage":{"max_session_size_mb":2}}})");
  memory.reopen();
  memory.session();
  CHECK(memory->statistics("s1").value().size_max_bytes == 2U << 20U);
}

TEST_CASE("a session at its limit refuses entries when it may not be compacted") {
  MemoryFixture memory;
  memory.folder.write("memory/config.json",
                      R"({"memory_config":{"storage":{"max_session_size_mb":1},)"
                      R"("compaction":{"enabled":false}}})");
  memory.reopen();
  memory.session();
  const std::string large(200'000, 'x');
  int accepted = 0;
  Result<std::string> added = std::string();
  while (added && accepted < 10) {
    added = memory->add_fact("s1", {.content = large});
    accepted += added ? 1 : 0;
  }
  CHECK(accepted == 5);
  CHECK(code_of(added) == ErrorCode::E_SIZE_LIMIT);
  CHECK(memory->verify().value().findings.empty());
  // Other sessions have room of their own.
  memory.session("s2");
  CHECK(memory->add_fact("s2", {.content = large}).has_value());
}

TEST_CASE("a session counts the same whether the index covers it or not") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("f1");
  memory.add_fact("f2");
  memory.add(EntryType::kConversation,
             R"({"role":"user","content":"x","timestamp":"2025-12-31T00:00:00Z"})");
  std::string more;
  SUBCASE("every line is an entry") {}
  SUBCASE("a line is superseded") { more = MemoryFixture::fact("f1", "again") + "\n"; }
  SUBCASE("a line is damaged") { more = "broken\n"; }
  SUBCASE("a line is blank") { more = "\n"; }
  SUBCASE("the end is torn") { more = "{"; }
  SUBCASE("the first version was the newest") {
    more = R"({"id":"f1","timestamp":"2025-01-01T00:00:00Z","content":"x","decay_factor":1.0})"
           "\n";
  }
  SUBCASE("another one expires") {
    more = R"({"id":"f3","timestamp":"2026-01-01T00:00:00Z","content":"x","decay_factor":1.0,)"
           R"("expires_at":"2026-01-11T10:30:00Z"})"
           "\n";
  }
  memory.write(EntryType::kFact, memory.read(EntryType::kFact) + more);
  const SessionStatistics by_logs = memory->statistics("s1").value();
  memory.clock.advance(std::chrono::hours(1));
  (void)memory->rebuild_index().value();
  memory.reopen();
  const SessionStatistics counted = memory->statistics("s1").value();
  for (const EntryType type : kEntryTypes) {
    CAPTURE(entry_type_name(type));
    CHECK(of(counted, type).type == type);
    CHECK(of(counted, type).entries == of(by_logs, type).entries);
    CHECK(of(counted, type).versions == of(by_logs, type).versions);
    CHECK(of(counted, type).damaged_lines == of(by_logs, type).damaged_lines);
    CHECK(of(counted, type).bytes == of(by_logs, type).bytes);
    CHECK(of(counted, type).torn_bytes == of(by_logs, type).torn_bytes);
  }
  CHECK(counted.oldest == by_logs.oldest);
  CHECK(counted.newest == by_logs.newest);
}

TEST_CASE("a session is called by the newest version of its first request, indexed or not") {
  MemoryFixture memory;
  memory.session();
  const auto say = [&](std::string_view id, std::string_view role, std::string_view content) {
    memory.add(EntryType::kConversation,
               fmt::format(R"({{"id":"{}","role":"{}","content":"{}"}})", id, role, content));
  };
  const auto index = [&] {
    memory.clock.advance(std::chrono::hours(1));
    (void)memory->rebuild_index().value();
    memory.reopen();
  };
  say("m", "user", "Fix the connection pool of the ledger");
  say("n", "assistant", std::string(300'000, 'x'));  // A long log.
  std::string request = "Fix the connection pool of the ledger";
  SUBCASE("one version") { index(); }
  SUBCASE("the index has a newer version") {
    request = "Replace the connection pool of the ledger";
    say("m", "user", request);
    index();
  }
  SUBCASE("a newer version came behind the index") {
    index();
    request = "Replace the connection pool of the ledger";
    say("m", "user", request);
  }
  SUBCASE("a line is damaged that has the id") {
    const std::string log = memory.read(EntryType::kConversation);
    request = "Rename the connection pool of the ledger";
    memory.write(EntryType::kConversation,
                 log + fmt::format(R"({{"id":"m","role":"user","content":"{}"}})", request) + "\n");
    index();
  }
  CHECK(memory->load_session("s1").value().first_request == request);
}

TEST_CASE("topics and times are those of the entries there are, summed up in the index or not") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  const auto add = [&](std::string_view session, std::string_view id, std::string_view time,
                       std::string_view topic, std::string_view more = {}) {
    memory.add(EntryType::kFact,
               fmt::format(R"({{"id":"{}","timestamp":"{}","content":"x","topic":"{}"{}}})", id,
                           time, topic, more),
               std::string(session));
  };
  add("s1", "a", "2026-01-01T10:00:00Z", "pool");
  add("s1", "b", "2026-01-02T10:00:00Z", "pool");
  add("s1", "c", "2026-01-02T23:59:59Z", "ledger");
  add("s2", "d", "2026-01-03T00:00:00Z", "pool");
  memory.add(EntryType::kEvent, R"({"id":"e","timestamp":"2026-01-03T09:00:00Z","kind":"k"})",
             "s2");
  const auto told = [&] {
    std::vector<std::string> lines;
    for (const TopicCount& each : memory->topics({}).value()) {
      lines.push_back(fmt::format("{} {} in {}, {}", each.topic, each.entries, each.sessions,
                                  format_rfc3339(each.newest)));
    }
    for (const std::vector<EntryType>& types :
         {std::vector<EntryType>(), std::vector{EntryType::kFact}}) {
      for (const TimelineUnit unit :
           {TimelineUnit::kHour, TimelineUnit::kDay, TimelineUnit::kWeek, TimelineUnit::kMonth}) {
        for (const TimelineBucket& each : memory->timeline({.types = types}, unit).value()) {
          lines.push_back(fmt::format("{} {} in {}", format_rfc3339(each.begin),
                                      fmt::join(each.entries, " "), each.sessions));
        }
      }
    }
    return lines;
  };
  const auto index = [&] {
    memory.clock.advance(std::chrono::hours(1));
    (void)memory->rebuild_index().value();
    memory.reopen();
  };
  index();
  SUBCASE("as it was") {}
  SUBCASE("a new version is of another day and topic") {
    add("s1", "b", "2026-01-05T10:00:00Z", "ledger");
    SUBCASE("which the index has") { index(); }
  }
  SUBCASE("one is deleted") {
    const DeletionCriteria criteria{.ids = {"d"}};
    REQUIRE(memory->delete_entries(criteria));
    SUBCASE("which the index knows") { index(); }
  }
  SUBCASE("one expires that the index has") {
    add("s2", "f", "2026-01-04T10:00:00Z", "pool", R"(,"expires_at":"2026-01-12T00:00:00Z")");
    index();
    memory.clock.advance(std::chrono::hours(24));
  }
  SUBCASE("a session is archived") {
    REQUIRE(memory->archive_session("s1"));
    SUBCASE("which the index has") { index(); }
  }
  SUBCASE("an editor takes a line away") {
    const std::string facts = memory.read(EntryType::kFact);
    memory.write(EntryType::kFact, facts.substr(facts.find('\n') + 1));
  }
  const std::vector<std::string> by_index = told();
  memory.folder.write("memory/config.json", R"({"memory_config":{"indexing":{"enabled":false}}})");
  memory.reopen();
  CHECK(told() == by_index);
}

}  // namespace bmad_mem::test::statistics_test
