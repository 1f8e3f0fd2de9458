// deletion_test.cpp - what is deleted is gone from everything and can come back; what is purged is
// nowhere.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "store/gzip.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::deletion_test {
namespace {

using Ids = std::vector<std::string>;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// The files below the root that hold `text`, compressed ones unpacked: an eye of its own, beside
/// find_text().
std::set<std::string> files_with(MemoryFixture& memory, const std::string& text) {
  std::set<std::string> names;
  for (const auto& each : std::filesystem::recursive_directory_iterator(memory.root())) {
    if (!each.is_regular_file()) {
      continue;
    }
    std::string bytes = bytes_of(each.path());
    if (each.path().extension() == ".gz") {
      bytes = gunzip(bytes, 1U << 30U).value();
    }
    if (bytes.find(text) != std::string::npos) {
      names.insert(each.path().filename());
    }
  }
  return names;
}

}  // namespace

TEST_CASE("deleted entries are excluded from everything and can be brought back") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "postgres one");
  memory.add_fact("b", "postgres two");
  memory.add_fact("a", "postgres three");
  const std::string before = memory.read(EntryType::kFact);
  const DeletionReport report = memory->delete_entries({.ids = {"a"}}).value();
  CHECK(report.entries == 1);
  CHECK(report.removed.size() == 2);
  CHECK(report.expires_at == memory.clock.now() + std::chrono::days(30));
  CHECK(memory.listed() == Ids{"b"});
  CHECK(memory.found("postgres") == Ids{"b"});
  CHECK(memory->history("a").value().empty());
  CHECK(memory->get(Ids{"a"}).value().empty());
  CHECK(memory->deletions().value().size() == 1);

  const UndeleteReport back = memory->undelete({.ids = {"a"}}).value();
  CHECK(back.lines == 2);
  CHECK(memory.listed() == Ids{"a", "b"});
  CHECK(memory->get(Ids{"a"}).value().front().json.find("three") != std::string::npos);
  CHECK(memory->history("a").value().size() == 2);
  CHECK(memory->deletions().value().empty());
  CHECK(memory.read(EntryType::kFact).size() == before.size());
}

TEST_CASE("all that is asked for must hold, and the last version decides") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  const auto add = [&](const std::string& id, const std::string& members,
                       const std::string& session) {
    memory.add(EntryType::kFact,
               fmt::format(R"({{"id":"{}","timestamp":"2026-01-0{}T00:00:00Z","content":"x"{}}})",
                           id, id.back(), members),
               session);
  };
  add("f1", R"(,"tags":["red"],"agent_id":"ann")", "s1");
  add("f2", R"(,"tags":["red","blue"],"agent_id":"bob")", "s1");
  add("f3", R"(,"tags":["blue"],"agent_id":"ann")", "s2");
  add("f4", R"(,"tags":["red"])", "s2");
  add("f4", "", "s2");
  const auto doomed = [&](const DeletionCriteria& criteria) {
    std::set<std::string> ids;
    const DeletionReport report = memory->delete_entries(criteria, {.dry_run = true}).value();
    for (const RemovedEntry& each : report.removed) {
      ids.insert(each.id);
    }
    return Ids(ids.begin(), ids.end());
  };
  const Timestamp third{std::chrono::sys_days{std::chrono::January / 3 / 2026}};
  CHECK(doomed({.tags = {"red"}}) == Ids{"f1", "f2"});
  CHECK(doomed({.tags = {"red"}, .agents = {"ann"}}) == Ids{"f1"});
  CHECK(doomed({.sessions = {"s2"}, .tags = {"red", "blue"}}) == Ids{"f3"});
  CHECK(doomed({.since = third}) == Ids{"f3", "f4"});
  CHECK(doomed({.until = third}) == Ids{"f1", "f2", "f3"});
  CHECK(doomed({.types = {EntryType::kDecision}}).empty());
  CHECK(doomed({.match = "red"}) == Ids{"f1", "f2", "f4"});  // Any version that holds a text.
  CHECK(memory.listed().size() == 4);
  CHECK(code_of(memory->delete_entries({.sessions = {"s1"}})) == ErrorCode::E_INVALID_QUERY);
}

TEST_CASE("an entry that was written anew is not overwritten by its deleted version") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "old");
  memory->delete_entries({.ids = {"a"}}).value();
  memory.add_fact("a", "new");
  const UndeleteReport back = memory->undelete({.ids = {"a"}}).value();
  CHECK(back.lines == 0);
  CHECK(back.left_behind == Ids{"a"});
  CHECK(memory->get(Ids{"a"}).value().front().json.find("new") != std::string::npos);
}

TEST_CASE("the end of a deleted session leaves the entries of a new one alone") {
  MemoryFixture m;
  m.session();
  m.add_fact("f1");
  m.add_fact("f2");
  REQUIRE(m->delete_session("s1"));
  m.session();
  m.add_fact("f1", "told again");
  REQUIRE(m->purge_deleted(/*all=*/true));
  std::string record;
  for (const auto& [name, bytes] : m.files()) {
    record += name.ends_with("deletion-record.json") ? bytes : "";
  }
  CHECK(record.find("\"f2\"") != std::string::npos);
  CHECK(record.find("\"f1\"") == std::string::npos);
}

TEST_CASE("a session is deleted as a whole, and comes back as it was") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "postgres");
  const std::string log = memory.read(EntryType::kFact);
  const DeletionReport report = memory->delete_session("s1").value();
  CHECK(report.sessions_gone == Ids{"s1"});
  CHECK(report.entries == 1);
  CHECK(memory->list_sessions().value().empty());
  CHECK(memory.found("postgres").empty());
  CHECK(code_of(memory->load_session("s1")) == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(memory->undelete({.sessions = {"s1"}}).value().sessions == Ids{"s1"});
  CHECK(memory.read(EntryType::kFact) == log);
  CHECK(memory.found("postgres") == Ids{"a"});
}

TEST_CASE("what was purged of a deleted session is no change by hand when it comes back") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a");
  memory.add_fact("b");
  memory->delete_session("s1").value();
  memory->delete_entries({.ids = {"a"}}, {.purge = true}).value();
  memory->undelete({.sessions = {"s1"}}).value();
  CHECK(memory.listed() == Ids{"b"});
  CHECK(memory->verify().value().changes.empty());
  memory.add_fact("c");
  CHECK(memory->verify().value().changes.empty());
}

TEST_CASE("a purge reaches every file, and only ids are left") {
  MemoryFixture memory;
  constexpr const char* kCanary = "canary7f3a9";
  memory.session("live");
  memory.session("packed");
  memory.session("gone");
  memory.add_fact("c1", fmt::format("a {} sings", kCanary), "live");
  memory.add_fact("k1", "stays", "live");
  memory.add_fact("c2", fmt::format("the {}", kCanary), "packed");
  memory.add_fact("k2", "stays too", "packed");
  memory.add_fact("c3", kCanary, "gone");
  memory->archive_session("packed").value();
  memory->delete_session("gone").value();
  // Deleted before, evicted before, damaged, summarized, in the index.
  memory.add_fact("c4", fmt::format("deleted {}", kCanary), "live");
  memory->delete_entries({.ids = {"c4"}}).value();
  memory.add_fact("c5", fmt::format("evicted {}", kCanary), "live");
  memory.add_fact("k5", "young", "live");
  memory->compact("live", {.keep_share = 0}).value();
  memory.add_fact("c6", fmt::format("again {}", kCanary), "live");
  memory.write("summary.md", fmt::format("kept line\n{} was here\n", kCanary), "live");
  memory.write("quarantine.jsonl", fmt::format("{{\"text\":\"{}\"}}\n", kCanary), "live");
  memory.write("facts.jsonl.tmp", kCanary, "live");
  memory.write(EntryType::kFact,
               memory.read(EntryType::kFact, "live") + "{broken " + kCanary + "\n", "live");
  memory->rebuild_index().value();
  REQUIRE(files_with(memory, kCanary).size() >= 6);

  const DeletionReport report = memory->delete_entries({.match = kCanary}, {.purge = true}).value();
  CHECK_FALSE(report.elsewhere.empty());
  CHECK(files_with(memory, kCanary).empty());
  CHECK(memory->find_text(kCanary).value().empty());
  CHECK(memory.read("summary.md", "live") == "kept line\n");

  // What had nothing to do with it is still there.
  memory->restore_session("packed").value();
  CHECK(memory->restore_evicted("live").value() == 2);
  CHECK(memory.listed() == Ids{"k1", "k2", "k5"});
}

TEST_CASE("a purge leaves alone what only has a name like it") {
  MemoryFixture memory;
  for (const char* session : {"live", "packed"}) {
    memory.session(session);
    memory.add_fact("a1", "goes", session);
    memory.add_fact("a10", "stays", session);
    memory.write("summary.md", "see a10\nsee a1.\n\"a1\": why\n(a1, a10)\na1-b stays\nba1 stays\n",
                 session);
    memory.write("quarantine.jsonl",
                 "{\"text\":\"{\\\"id\\\":\\\"a10\\\"\"}\n{\"text\":\"{\\\"id\\\":\\\"a1\\\"\"}\n"
                 "{\"text\":\"\\ta1 torn\"}\n",
                 session);
    memory.write("access.jsonl",
                 R"({"at":"2026-01-11T10:00:00Z","ids":["a1","a10"]})"
                 "\n"
                 R"({"at":"2026-01-11T11:00:00Z","ids":["a10","b"]})"
                 "\n",
                 session);
  }
  memory->archive_session("packed").value();
  const DeletionReport report = memory->delete_entries({.ids = {"a1"}}, {.purge = true}).value();
  memory->restore_session("packed").value();
  for (const char* session : {"live", "packed"}) {
    CAPTURE(session);
    CHECK(memory.read("summary.md", session) == "see a10\na1-b stays\nba1 stays\n");
    CHECK(memory.read("quarantine.jsonl", session) == "{\"text\":\"{\\\"id\\\":\\\"a10\\\"\"}\n");
    CHECK(memory.read("access.jsonl", session).find("\"a1\"") == std::string::npos);
    CHECK(memory.read(EntryType::kFact, session) == MemoryFixture::fact("a10", "stays") + "\n");
  }
  // A line of several ids loses only the one.
  CHECK(memory.read("access.jsonl", "live") ==
        R"({"at":"2026-01-11T11:00:00Z","count":2,"ids":["a10"]})"
        "\n"
        R"({"at":"2026-01-11T11:00:00Z","ids":["b"]})"
        "\n");
  const auto in_access = std::ranges::find_if(report.elsewhere, [](const FileCount& each) {
    return each.path.ends_with("live/access.jsonl");
  });
  REQUIRE(in_access != report.elsewhere.end());
  CHECK(in_access->lines == 1);
}

TEST_CASE("damaged lines that are purged are no entries") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "secret");
  memory.write(EntryType::kFact,
               "{torn secret\n" + memory.read(EntryType::kFact) + "secret, too\n{\"other\n");
  for (const bool dry_run : {true, false}) {
    const DeletionReport report =
        memory->delete_entries({.match = "secret"}, {.dry_run = dry_run, .purge = true}).value();
    CHECK(report.entries == 1);
    REQUIRE(report.removed.size() == 1);
    CHECK(report.removed[0].id == "a");
    REQUIRE(report.elsewhere.size() == 1);
    CHECK(report.elsewhere[0].path == memory.path(EntryType::kFact));
    CHECK(report.elsewhere[0].lines == 2);
  }
  CHECK(memory.read(EntryType::kFact) == "{\"other\n");
}

TEST_CASE("what was purged is not imported again") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "secret");
  memory->delete_entries({.ids = {"a"}}, {.purge = true}).value();
  const std::string again = MemoryFixture::fact("a", "secret");
  const std::string_view line = again;
  const BatchReport report =
      memory->add_batch("s1", EntryType::kFact, {&line, 1}, {.known = KnownEntries::kSkipId})
          .value();
  CHECK(report.skipped == 1);
  CHECK(memory.listed().empty());
}

TEST_CASE("what was deleted is purged when its time is over, not before") {
  MemoryFixture memory;
  memory.session();
  memory.session("s2");
  memory.add_fact("a", "postgres");
  memory->maintain().value();
  memory->delete_entries({.ids = {"a"}}).value();
  memory->delete_session("s2").value();
  memory.clock.advance(std::chrono::days(1));
  memory->maintain().value();
  memory.clock.advance(std::chrono::days(28));
  CHECK(memory->purge_deleted().value().entries == 0);
  CHECK(memory->deletions().value().size() == 2);
  memory.clock.advance(std::chrono::days(1));
  const DeletionReport purged = memory->purge_deleted().value();
  CHECK(purged.entries == 1);
  CHECK(purged.sessions_gone == Ids{"s2"});
  CHECK(memory->deletions().value().empty());
  CHECK(files_with(memory, "postgres").empty());
}

TEST_CASE("a clock that was years behind or ahead purges nothing early") {
  using std::chrono::days;
  constexpr days kYears(3650);
  for (const days error : {-kYears, kYears}) {
    for (const bool is_maintained : {false, true}) {
      CAPTURE(error.count());
      CAPTURE(is_maintained);
      MemoryFixture memory;
      memory.session();
      memory.add_fact("a", "postgres");
      for (int day = 0; day < 4; ++day) {
        memory->maintain().value();
        memory.clock.advance(days(1));
      }
      memory.clock.advance(error);
      memory->delete_entries({.ids = {"a"}}).value();
      for (int day = 0; day < 3 && is_maintained; ++day) {
        memory->maintain().value();
        memory->purge_deleted().value();
        memory.clock.advance(days(1));
      }
      memory.clock.advance(-error);
      for (int day = 0; day < 29; ++day) {
        memory->maintain().value();
        memory->purge_deleted().value();
        memory.clock.advance(days(1));
      }
      CHECK(memory->deletions().value().size() == 1);
      for (int day = 0; day < 5; ++day) {
        memory.clock.advance(days(1));
        memory->purge_deleted().value();
      }
      CHECK(memory->deletions().value().empty());
    }
  }
}

TEST_CASE("the audit log names ids and counts, and never content") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "topsecret");
  memory->delete_entries({.match = "topsecret"}).value();
  memory->undelete({.ids = {"a"}}).value();
  memory->delete_entries({.ids = {"a"}}, {.purge = true}).value();
  const std::vector<AuditRecord> records = memory->audit().value();
  REQUIRE(records.size() == 3);
  CHECK(records[0].action == "delete");
  CHECK(records[0].ids == Ids{"a"});
  CHECK(records[0].detail == "by text");
  CHECK(records[1].action == "undelete");
  CHECK(records[2].action == "purge");
  CHECK(memory.read("audit.jsonl").find("topsecret") == std::string::npos);
  memory->delete_session("s1", {.purge = true}).value();
  CHECK(memory->audit({.actions = {"purge"}}).value().back().detail == "the whole session");
}

TEST_CASE("an escaped text is found as it reads") {
  MemoryFixture memory;
  memory.session();
  memory.add(EntryType::kFact,
             R"({"id":"a","timestamp":"2026-01-11T10:00:00Z","content":"caf\u00e9 \"x\""})");
  CHECK(memory->delete_entries({.match = "caf\u00e9 \"x\""}, {.dry_run = true}).value().entries ==
        1);
}

TEST_CASE("the document of an artifact goes with its deletion") {
  MemoryFixture memory;
  memory.session();
  for (const char* id : {"a1", "a2"}) {
    memory
        ->add_artifact_document("s1", {.path = "plan.md", .title = "Plan", .common = {.id = id}},
                                "the heron's plan")
        .value();
  }
  memory->delete_entries({.ids = {"a1"}}).value();
  SUBCASE("in the folder") {}
  SUBCASE("in the archive") { memory->archive_session("s1").value(); }
  memory->purge_deleted(true).value();
  CHECK(memory->find_text("heron").value().size() == 1);
  CHECK(memory.listed() == Ids{"a2"});
}

}  // namespace bmad_mem::test::deletion_test
