// maintenance_test.cpp - what is due is done, once, and a clock that jumps deletes nothing early.
#include "lifecycle/maintenance.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/knowledge.hpp"
#include "lifecycle/maintenance_state.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "store/sessions.hpp"
#include "support/lifecycle_store.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::maintenance_test {
namespace {

using std::chrono::days;
using std::chrono::hours;

/// Files on disk carry the time of the test's run; the clock starts beyond it.
constexpr const char* kStart = "2100-01-04T00:00:00Z";

std::vector<std::string> tasks(const MaintenanceReport& report) {
  std::vector<std::string> names;
  for (const MaintenanceAction& action : report.done) {
    names.push_back(action.task + " " + action.session_id);
  }
  return names;
}

bool did(const MaintenanceReport& report, const std::string& task) {
  return std::ranges::any_of(report.done,
                             [&](const MaintenanceAction& each) { return each.task == task; });
}

MaintenanceReport run(MemoryFixture& memory) {
  return memory->maintain({.only_due = true}).value();
}

void add_at(MemoryFixture& memory, EntryType type, const std::string& id, const std::string& time,
            const std::string& members) {
  memory.add(type, fmt::format(R"({{"id":"{}","timestamp":"{}",{}}})", id, time, members));
}

/// Runs maintenance once a day for so many days; all that was done.
std::vector<std::string> live_on(MemoryFixture& memory, int day_count) {
  std::vector<std::string> all;
  for (int day = 0; day < day_count; ++day) {
    memory.clock.advance(days(1));
    std::ranges::copy(tasks(run(memory)), std::back_inserter(all));
  }
  return all;
}

/// A memory whose clock has been trusted for a while. Session s1 is from long before, unless idle
/// sessions are archived: it would be.
struct Settled : MemoryFixture {
  enum class Idle : std::uint8_t { kStay, kAreArchived };

  explicit Settled(Idle idle = Idle::kStay) {
    if (idle == Idle::kStay) {
      folder.write("memory/config.json",
                   R"({"memory_config":{"lifecycle":{"archive_after_idle_days":0}}})");
      reopen();
      session();
    }
    clock.set(kStart);
    for (int i = 0; i < 3; ++i) {
      static_cast<void>((*this)->maintain());
      clock.advance(hours(25));
    }
  }
};

/// All but retention was done just now, and the clock is trusted.
void only_retention_is_due(LifecycleStore& store) {
  MaintenanceState state;
  for (const MaintenanceJob job : kMaintenanceJobs) {
    if (job != MaintenanceJob::kRetention) {
      state.set_done(job, store.clock.now());
    }
  }
  state.clock.last_seen = store.clock.now();
  const MaintenancePlan plan = maintenance_plan(store.store.config).value();
  REQUIRE(save_maintenance(store.disk, plan, state).has_value());
}

}  // namespace

TEST_CASE("nothing is due twice") {
  Settled memory;
  run(memory);
  const MaintenanceReport again = run(memory);
  CHECK(again.done.empty());
  CHECK(again.next_due > memory.clock.now());
  CHECK(again.next_due <= memory.clock.now() + hours(24));
}

TEST_CASE("entries past their retention are deleted, and can be brought back") {
  Settled memory;
  const std::string old = "2099-08-01T00:00:00Z";
  const std::string message = R"("role":"user","content":"x")";
  add_at(memory, EntryType::kConversation, "m1", old, message);
  add_at(memory, EntryType::kConversation, "m2", old, message + R"(,"pinned":true)");
  add_at(memory, EntryType::kConversation, "m3", "2100-01-01T00:00:00Z", message);
  add_at(memory, EntryType::kDecision, "d1", old, R"("decision":"stays for a year")");
  add_at(memory, EntryType::kFact, "f1", "1999-01-01T00:00:00Z", R"("content":"for ever")");
  memory.clock.advance(hours(25));
  const MaintenanceReport planned = memory->maintain({.dry_run = true}).value();
  CHECK(did(planned, "retention"));
  CHECK(memory->list({.limit = 0}).value().size() == 5);
  const MaintenanceReport report = run(memory);
  CHECK(did(report, "retention"));
  CHECK(memory.listed() == std::vector<std::string>{"d1", "f1", "m2", "m3"});
  CHECK(memory->undelete({.ids = {"m1"}}).value().lines == 1);
}

TEST_CASE("retention reaches the archive and what was evicted") {
  Settled memory;
  const std::string old = "2099-08-01T00:00:00Z";
  const std::string message = R"("role":"assistant","content":"heron","conversation_id":"c")";
  for (const char* id : {"m1", "m2", "m3"}) {
    add_at(memory, EntryType::kConversation, id, old,
           message + fmt::format(R"(,"n":"number {}")", id));
  }
  add_at(memory, EntryType::kFinding, "d1", old,
         R"("severity":"low","description":"heron, for half a year")");
  bool is_archived = false;
  SUBCASE("evicted") { REQUIRE(memory->compact("s1", {.keep_share = 0}).value().evicted == 4); }
  SUBCASE("archived") { is_archived = true; }
  if (is_archived) {
    memory->archive_session("s1").value();
  }
  memory.clock.advance(hours(25));
  const std::string place = is_archived ? "archive" : "evicted";
  const MaintenanceReport planned = memory->maintain({.dry_run = true}).value();
  REQUIRE(planned.done.size() == 1);
  CHECK(planned.done[0].place == place);
  CHECK(planned.done[0].count == 3);
  CHECK(planned.done[0].types ==
        std::vector<std::pair<EntryType, std::uint64_t>>{{EntryType::kConversation, 3}});
  CHECK(memory.listed().size() == 4);
  const MaintenanceReport report = run(memory);
  REQUIRE(report.problems.empty());
  REQUIRE(report.done.size() == 1);
  CHECK(report.done[0].count == 3);
  CHECK(memory.listed() == std::vector<std::string>{"d1"});
  CHECK(memory.found("heron") == std::vector<std::string>{"d1"});
  CHECK(memory->verify().value().findings.empty());
  const AuditRecord audit = memory->audit({.actions = {"delete"}}).value().back();
  CHECK(audit.count == 3);
  CHECK(audit.ids == std::vector<std::string>{"m1", "m2", "m3"});
  CHECK(audit.detail == fmt::format("past their retention, {}", is_archived ? "archived" : place));
  CHECK(run(memory).done.empty());
  CHECK(memory->undelete({.ids = {"m1"}}).value().lines == 1);
  CHECK(memory.listed() == std::vector<std::string>{"d1", "m1"});
}

TEST_CASE("an archived session of which nothing may stay is deleted, and purged in the end") {
  Settled memory;
  add_at(memory, EntryType::kConversation, "m1", "2099-08-01T00:00:00Z",
         R"("role":"user","content":"heron")");
  memory->archive_session("s1").value();
  memory.clock.advance(hours(25));
  CHECK(memory->maintain({.dry_run = true}).value().done.at(0).place == "session");
  const MaintenanceReport report = run(memory);
  REQUIRE(report.done.size() == 1);
  CHECK(report.done[0].place == "session");
  CHECK(memory->archived_sessions().value().empty());
  CHECK(memory.found("heron").empty());
  REQUIRE(memory->deletions().value().size() == 1);
  CHECK(memory->deletions().value()[0].whole_session);
  CHECK(memory->audit({.actions = {"delete"}}).value().back().detail ==
        "the whole session, past their retention");
  SUBCASE("it can be brought back") {
    CHECK(memory->undelete({.sessions = {"s1"}}).value().sessions ==
          std::vector<std::string>{"s1"});
    CHECK(memory.listed() == std::vector<std::string>{"m1"});
  }
  SUBCASE("it goes for good") {
    live_on(memory, 40);
    CHECK(memory->deletions().value().empty());
    CHECK(memory->find_text("heron").value().empty());
  }
}

TEST_CASE("a project has its own days") {
  Settled memory;
  memory.folder.write("memory/config.json", R"({"memory_config":{"privacy":{)"
                                            R"("project_retention_days":{"shop":{"fact":7}}},)"
                                            R"("lifecycle":{"archive_after_idle_days":0}}})");
  memory.reopen();
  for (const char* project : {"shop", "port"}) {
    memory->create_session({.session_id = project, .project_name = project}).value();
    memory.add_fact(project, "heron", project);
  }
  CHECK(live_on(memory, 8) == std::vector<std::string>{"retention shop"});
  CHECK(memory.listed() == std::vector<std::string>{"port"});
}

TEST_CASE("what has expired is not told from that moment, and is purged by the next maintenance") {
  Settled memory;
  run(memory);
  const auto expires = [&](hours after) {
    return fmt::format(R"("content":"heron","key":"k","category":"constraint","expires_at":"{}")",
                       format_rfc3339(memory.clock.now() + after));
  };
  add_at(memory, EntryType::kFact, "before", "2099-12-01T00:00:00Z",
         R"("content":"egret","key":"k","category":"constraint")");
  add_at(memory, EntryType::kFact, "until", "2100-01-01T00:00:00Z", expires(hours(2)));
  const auto known = [&] { return Knowledge(*memory).recall({}).value().at(0).value; };
  CHECK(known() == "heron");
  CHECK(memory.found("heron") == std::vector<std::string>{"until"});
  memory.clock.advance(hours(2));
  CHECK(known() == "egret");
  CHECK(memory.found("heron").empty());
  CHECK(memory->query({.text = "egret"}).value().at(0).outdated == false);
  CHECK(memory.listed() == std::vector<std::string>{"before"});
  CHECK(memory->topics({}).has_value());
  CHECK(memory->get(std::vector<std::string>{"until"}).value().size() == 1);
  memory.clock.advance(hours(23));
  const MaintenanceReport report = run(memory);
  REQUIRE(report.done.size() == 1);
  CHECK(report.done[0].place == "log");
  CHECK(memory->find_text("heron").value().empty());
  CHECK(memory->audit({.actions = {"purge"}}).value().back().detail == "past their expires_at");
}

TEST_CASE("who has not maintained for a week is overdue") {
  Settled memory;
  const MaintenanceAge fresh = memory->maintenance_age().value();
  CHECK(fresh.last_run);
  CHECK_FALSE(fresh.is_overdue);
  memory.clock.advance(days(8));
  CHECK(memory->maintenance_age().value().is_overdue);
  std::filesystem::remove(memory.root() + "/maintenance.json");
  const MaintenanceAge never = memory->maintenance_age().value();
  CHECK_FALSE(never.last_run);
  CHECK(never.is_overdue);
}

TEST_CASE("a memory that is young is not overdue though nobody has maintained it") {
  MemoryFixture memory;
  memory.session();
  std::filesystem::remove(memory.root() + "/maintenance.json");
  CHECK_FALSE(memory->maintenance_age().value().is_overdue);
  memory.clock.advance(days(8));
  CHECK(memory->maintenance_age().value().is_overdue);
}

TEST_CASE("what was imported is kept from then on, however old it is") {
  Settled memory;
  memory.session("s2");
  memory.add(EntryType::kConversation,
             R"({"id":"m1","timestamp":"2020-01-01T00:00:00Z","role":"user","content":"x"})", "s2");
  memory.clock.advance(hours(25));
  CHECK_FALSE(did(run(memory), "retention"));
  CHECK(memory.listed() == std::vector<std::string>{"m1"});
}

TEST_CASE("a session that nobody writes to is archived after 30 days") {
  Settled memory(Settled::Idle::kAreArchived);
  memory.session();
  memory.add_fact("a", "postgres");
  CHECK(live_on(memory, 29).empty());
  CHECK(live_on(memory, 2) == std::vector<std::string>{"archive s1"});
  CHECK(memory->list_sessions().value().empty());
  CHECK(memory->query({.text = "postgres"}).value().size() == 1);
}

TEST_CASE("many calls of tools are counted though the session is small") {
  Settled memory;
  const auto call = [&](int number) {
    add_at(memory, EntryType::kEvent, fmt::format("t{}", number), kStart,
           fmt::format(R"("kind":"tool_use","tool":"Read","path":"a{}.cpp")", number));
  };
  for (int number = 0; number < 2500; ++number) {
    call(number);
  }
  CHECK(live_on(memory, 1).empty());
  call(2500);
  CHECK(live_on(memory, 1) == std::vector<std::string>{"decay s1"});
  CHECK(memory->list({.types = {EntryType::kEvent}, .limit = 0}).value().size() == 2502);
  EntryFilter live{.types = {EntryType::kEvent}, .limit = 0};
  live.archived = ArchivedSessions::kWithout;
  CHECK(memory->list(live).value().size() == 2001);
}

TEST_CASE("what was deleted is purged on schedule after 30 days") {
  MemoryFixture memory;
  memory.session();
  memory.add_fact("a", "x");
  memory.clock.set(kStart);
  memory->delete_entries({.ids = {"a"}}).value();
  live_on(memory, 29);
  CHECK(memory->deletions().value().size() == 1);
  live_on(memory, 12);
  CHECK(memory->deletions().value().empty());
}

TEST_CASE("a clock that jumps ahead for less than a day deletes nothing") {
  Settled memory;
  add_at(memory, EntryType::kConversation, "m1", "2100-01-01T00:00:00Z",
         R"("role":"user","content":"x")");
  const Timestamp right = memory.clock.now();
  memory.clock.advance(days(3650));
  const MaintenanceReport jumped = run(memory);
  CHECK_FALSE(jumped.held_back.empty());
  CHECK_FALSE(did(jumped, "retention"));
  CHECK_FALSE(did(jumped, "archive"));
  memory.clock.advance(hours(12));
  run(memory);
  memory.clock.set(right + hours(13));
  run(memory);
  CHECK(memory->list({.limit = 0}).value().size() == 1);
}

TEST_CASE("while another process maintains, who was asked to says so, and others leave it alone") {
  Settled memory;
  memory.reopen({.lock_timeout = std::chrono::milliseconds(20)}).value();
  memory.clock.advance(hours(25));
  const auto files = std::move(open_posix_file_system(memory.root()).value());
  FileLock lock(*files, memory.clock, kMaintenanceLockName, kMaintenanceLockInfoName);
  {
    const auto guard = lock.acquire({.operation = "maintain", .agent_id = "nightly"}).value();
    const Result<MaintenanceReport> refused = memory->maintain();
    CHECK(code_of(refused) == ErrorCode::E_LOCK_TIMEOUT);
    CHECK(refused.error().message.find("nightly") != std::string::npos);
    CHECK(run(memory).done.empty());
    CHECK(memory->maintain({.dry_run = true}).has_value());
  }
  CHECK(memory->maintain().has_value());
}

TEST_CASE("a dry run changes nothing, and what is due stays due") {
  Settled memory;
  memory.clock.advance(hours(25));
  const auto before = memory.files();
  for (const bool only_due : {false, true}) {
    const MaintenanceReport planned =
        memory->maintain({.only_due = only_due, .dry_run = true}).value();
    CHECK(planned.next_due <= memory.clock.now());
  }
  CHECK(memory.files() == before);
  run(memory);
  CHECK(memory->maintain({.only_due = true, .dry_run = true}).value().next_due >
        memory.clock.now());
}

TEST_CASE("a dry run in a memory that was never maintained takes no lock") {
  MemoryFixture memory;
  memory.clock.set(kStart);
  CHECK(memory->maintain({.dry_run = true}).value().next_due == memory.clock.now());
  CHECK_FALSE(std::filesystem::exists(memory.root() + "/" + kMaintenanceLockName));
}

TEST_CASE("what opening a session did by the way is told") {
  Settled memory;
  add_at(memory, EntryType::kConversation, "m1", "2099-08-01T00:00:00Z",
         R"("role":"user","content":"x")");
  static_cast<void>(memory->maintained_by_the_way());
  memory.clock.advance(hours(25));
  memory.session("s2");
  const std::vector<MaintenanceAction> told = memory->maintained_by_the_way();
  REQUIRE(told.size() == 1);
  CHECK(told[0].task == "retention");
  CHECK(told[0].count == 1);
  CHECK(memory->maintained_by_the_way().empty());
}

TEST_CASE("maintenance goes on where it was cut short") {
  Settled memory(Settled::Idle::kAreArchived);
  memory.session("s1");
  memory.session("s2");
  memory.add_fact("a", "x", "s1");
  memory.add_fact("b", "x", "s2");
  for (int day = 0; day < 34; ++day) {
    memory.clock.advance(days(1));
    const MaintenanceReport report =
        memory->maintain({.only_due = true, .time_limit = std::chrono::milliseconds(1)}).value();
    CHECK(report.problems.empty());
  }
  CHECK(memory->archived_sessions().value().size() == 2);
}

TEST_CASE("a session that is too young for retention is not read") {
  LifecycleStore store;
  store.clock.advance(days(400));
  REQUIRE(create_session(store.store, {.session_id = "young"}).has_value());
  only_retention_is_due(store);
  store.files->clear_log();
  REQUIRE(maintain(store.store, {.only_due = true}).has_value());
  const std::vector<std::string> calls = store.files->log();
  const auto opened = [&](const std::string& path) {
    return std::ranges::find(calls, "open sessions/" + path + " read") != calls.end();
  };
  CHECK(opened("s1/facts.jsonl"));
  CHECK(opened("young/manifest.json"));
  CHECK_FALSE(opened("young/conversation.jsonl"));
}

TEST_CASE("retention gets to the end however little time each run has") {
  LifecycleStore store;
  for (const char* id : {"s2", "s3", "s4"}) {
    REQUIRE(create_session(store.store, {.session_id = id}).has_value());
  }
  store.clock.advance(days(400));
  only_retention_is_due(store);
  const auto take_long = [] {
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2)) {
    }
  };
  store.files->meanwhile(
      {.operation = Operation::kOpen, .from_then_on = true, .path_part = "conversation.jsonl"},
      take_long);
  const auto state = [&] { return load_maintenance(store.disk).value(); };
  for (const char* last : {"s1", "s2", "s3"}) {
    REQUIRE(maintain(store.store, {.only_due = true, .time_limit = std::chrono::milliseconds(1)})
                .has_value());
    CHECK(state().retention_after == last);
    CHECK_FALSE(state().last_of(MaintenanceJob::kRetention));
  }
  REQUIRE(maintain(store.store, {.only_due = true, .time_limit = std::chrono::milliseconds(1)})
              .has_value());
  CHECK(state().retention_after.empty());
  CHECK(state().last_of(MaintenanceJob::kRetention) == store.clock.now());
}

TEST_CASE("a bad schedule is refused when the memory is opened") {
  MemoryFixture memory;
  memory.folder.write("memory/config.json",
                      R"({"memory_config":{"privacy":{"purge_schedule_cron":"0 2 31 2 *"}}})");
  const Result<MemoryManager> opened = MemoryManager::open({.root = memory.root()});
  CHECK(code_of(opened) == ErrorCode::E_SCHEMA_INVALID);
  CHECK(opened.error().field == "memory_config.privacy.purge_schedule_cron");
}

}  // namespace bmad_mem::test::maintenance_test
