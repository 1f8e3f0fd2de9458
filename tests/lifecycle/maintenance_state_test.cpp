#include "lifecycle/maintenance_state.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::maintenance_state_test {
namespace {

using std::chrono::hours;

constexpr const char* kFile = "maintenance.json";

Timestamp at(std::string_view text) { return try_parse_rfc3339(text).value(); }

// A Monday.
const Timestamp kNow = at("2026-01-12T02:00:00Z");

MaintenancePlan default_plan() { return maintenance_plan(Config{}).value(); }

/// Everything was done at `time`.
MaintenanceState all_done(Timestamp time) {
  MaintenanceState state;
  for (const MaintenanceJob job : kMaintenanceJobs) {
    state.set_done(job, time);
  }
  return state;
}

bool all_due(const MaintenanceState& state) {
  for (const MaintenanceJob job : kMaintenanceJobs) {
    if (!is_due(default_plan(), state, job, kNow)) {
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("each job is due by its own rule") {
  const MaintenanceState state = all_done(kNow);
  struct Row {
    MaintenanceJob job;
    const char* due;
  };
  constexpr Row kRows[] = {
      {MaintenanceJob::kDecay, "2026-01-13T02:00:00Z"},
      {MaintenanceJob::kArchive, "2026-01-13T02:00:00Z"},
      {MaintenanceJob::kRetention, "2026-01-13T02:00:00Z"},
      {MaintenanceJob::kPurge, "2026-01-18T02:00:00Z"},
  };
  for (const Row& row : kRows) {
    CAPTURE(maintenance_job_name(row.job));
    const Timestamp due = at(row.due);
    CHECK(next_due(default_plan(), state, row.job) == due);
    CHECK_FALSE(is_due(default_plan(), state, row.job, due - std::chrono::milliseconds(1)));
    CHECK(is_due(default_plan(), state, row.job, due));
  }
  CHECK(next_due(default_plan(), state) == kNow + hours(24));
  CHECK_FALSE(is_due(default_plan(), state, kNow + hours(23)));
  CHECK(is_due(default_plan(), state, kNow + hours(24)));
}

TEST_CASE("what was never done is due, and so is what was done in the future") {
  CHECK(all_due({}));
  CHECK(all_due(all_done(kNow + hours(1))));
  CHECK_FALSE(is_due(default_plan(), all_done(kNow), kNow));
}

TEST_CASE("settings change the plan and switch jobs off") {
  Config config;
  config.decay.update_interval_hours = 6;
  config.lifecycle.archive_after_idle_days = 0;
  config.privacy.auto_purge = false;
  const MaintenancePlan plan = maintenance_plan(config).value();
  CHECK(next_due(plan, all_done(kNow)) == kNow + hours(6));
  CHECK_FALSE(is_due(plan, {}, MaintenanceJob::kArchive, kNow));
  CHECK_FALSE(is_due(plan, {}, MaintenanceJob::kRetention, kNow));
  CHECK_FALSE(is_due(plan, {}, MaintenanceJob::kPurge, kNow));
}

TEST_CASE("a schedule that is none is an error that names the setting and the column") {
  Config config;
  config.privacy.purge_schedule_cron = "0 25 * * 0";
  const Error error = maintenance_plan(config).error();
  CHECK(error.code == ErrorCode::E_SCHEMA_INVALID);
  CHECK(error.field == "memory_config.privacy.purge_schedule_cron");
  CHECK(error.message == "is no schedule at column 3: the hour takes 0 to 23, not `25`");
}

TEST_CASE("what is saved is loaded") {
  MemoryFileSystem disk;
  MaintenanceState state = all_done(kNow);
  state.clock = {.last_seen = kNow};
  REQUIRE(save_maintenance(disk, default_plan(), state).has_value());
  CHECK(disk.read(kFile) ==
        R"({"version":1,"next_due":"2026-01-13T02:00:00Z","last":{"decay":"2026-01-12T02:00:00Z",)"
        R"("archive":"2026-01-12T02:00:00Z","retention":"2026-01-12T02:00:00Z",)"
        R"("purge":"2026-01-12T02:00:00Z"},"clock":{"last_seen":"2026-01-12T02:00:00Z"}})"
        "\n");
  CHECK(load_maintenance(disk).value() == state);

  state.retention_after = "s7";
  state.last[1] = std::nullopt;
  state.clock.held_since = kNow + hours(100);
  state.clock.held_last = kNow + hours(101);
  REQUIRE(save_maintenance(disk, default_plan(), state).has_value());
  CHECK(load_maintenance(disk).value() == state);
}

TEST_CASE("without a state, or with a damaged one, all is due and no time is trusted") {
  MemoryFileSystem disk;
  REQUIRE(save_maintenance(disk, default_plan(), all_done(kNow)).has_value());
  const std::string good = disk.read(kFile);
  std::vector<std::string> texts = {"",
                                    "hello",
                                    "[]",
                                    "{}",
                                    R"({"version":2,"last":{"decay":1}})",
                                    R"({"version":1,"last":[],"clock":{"last_seen":5}})",
                                    std::string(1U << 20U, ' ')};
  for (std::size_t size = 0; size + 1 < good.size(); ++size) {
    texts.push_back(good.substr(0, size));
  }
  for (const std::string& text : texts) {
    CAPTURE(text.substr(0, 80));
    disk.write(kFile, text);
    const MaintenanceState state = load_maintenance(disk).value();
    CHECK(state == MaintenanceState{});
    CHECK(all_due(state));
    CHECK(advance_clock(state.clock, kNow).is_held);
  }
  REQUIRE(disk.remove(kFile).has_value());
  CHECK(load_maintenance(disk).value() == MaintenanceState{});
}

TEST_CASE("an error of the disk is no missing state") {
  MemoryFileSystem disk;
  FaultyFileSystem files(disk);
  REQUIRE(save_maintenance(disk, default_plan(), {}).has_value());
  files.fail({.operation = Operation::kReadAt});
  CHECK(load_maintenance(files).error().code == ErrorCode::E_STORAGE_IO);
}

}  // namespace bmad_mem::test::maintenance_state_test
