// maintenance_state.hpp - what maintenance did when, and what is due: maintenance.json.
//
//   {"version":1,"next_due":"2026-01-13T02:00:00Z",
//    "last":{"decay":"2026-01-12T02:00:00Z","archive":…,"retention":…,"purge":…},
//    "clock":{"last_seen":"2026-01-12T02:00:00Z","held_since":…,"held_last":…},
//    "graces":{"del-06fq…":"2026-01-12T02:00:00Z"},
//    "retention_after":"sess-2026-01-02-4q7m2s"}
//
// Local and derived. Without it, or when it is damaged, everything is due, and the clock is held
// back, so that nothing is removed by age before a second run.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/cron.hpp"
#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "lifecycle/trusted_clock.hpp"
#include "store/config.hpp"

namespace bmad_mem {

enum class MaintenanceJob : std::uint8_t {
  kDecay,      ///< Folds access logs and refreshes what rests on decay.
  kArchive,    ///< Archives sessions that were idle for long.
  kRetention,  ///< Removes entries that are past their retention.
  kPurge,      ///< Removes for good what was deleted and can no longer be brought back.
};

inline constexpr std::array kMaintenanceJobs = {MaintenanceJob::kDecay, MaintenanceJob::kArchive,
                                                MaintenanceJob::kRetention, MaintenanceJob::kPurge};
inline constexpr std::size_t kMaintenanceJobCount = kMaintenanceJobs.size();

/// "decay", "archive", "retention", "purge".
std::string_view maintenance_job_name(MaintenanceJob job);

/// When which job runs. A job without a rule is switched off.
struct MaintenancePlan {
  std::chrono::hours decay_every{24};  ///< Always on: access logs are folded in any case.
  std::optional<std::chrono::hours> archive_every;
  std::optional<std::chrono::hours> retention_every;
  std::optional<Cron> purge;
};

/// The plan of a config: decay every decay.update_interval_hours; archive daily unless
/// lifecycle.archive_after_idle_days is 0; retention daily and purge by privacy.purge_schedule_cron
/// unless privacy.auto_purge is false. Errors: E_SCHEMA_INVALID with field
/// "memory_config.privacy.purge_schedule_cron", also while auto_purge is off.
Result<MaintenancePlan> maintenance_plan(const Config& config);

struct MaintenanceState {
  /// When each job was last done, in the order of the enum; absent: never.
  std::array<std::optional<Timestamp>, kMaintenanceJobCount> last{};
  ClockState clock;
  /// The session that a retention job looked at last before its time was over: the next one begins
  /// behind it. Empty when it came to the end.
  std::string retention_after;
  Graces graces;  ///< Since when deletions can be purged later, by the ids of the deletions.

  [[nodiscard]] const std::optional<Timestamp>& last_of(MaintenanceJob job) const {
    return last[static_cast<std::size_t>(job)];
  }
  void set_done(MaintenanceJob job, Timestamp at) { last[static_cast<std::size_t>(job)] = at; }

  friend bool operator==(const MaintenanceState&, const MaintenanceState&) = default;
};

/// When `job` is to run next: 1970 when it never did, nothing when it is switched off.
std::optional<Timestamp> next_due(const MaintenancePlan& plan, const MaintenanceState& state,
                                  MaintenanceJob job);
/// The earliest of all jobs; nothing when all are switched off.
std::optional<Timestamp> next_due(const MaintenancePlan& plan, const MaintenanceState& state);

/// Whether `job` is to run at `now`, the clock's own reading: a job that only runs too often does
/// no harm. Also when it was last done in the future: the clock was wrong then.
bool is_due(const MaintenancePlan& plan, const MaintenanceState& state, MaintenanceJob job,
            Timestamp now);
/// Whether any job is.
bool is_due(const MaintenancePlan& plan, const MaintenanceState& state, Timestamp now);

/// What maintenance.json says; a state in which nothing was ever done when it is missing, damaged
/// or of another version. One small file: some 20 us.
/// Errors: E_STORAGE_IO.
Result<MaintenanceState> load_maintenance(FileSystem& files);

/// Writes maintenance.json, without a sync. The caller sees to it that no other process does.
/// Errors: as replace_derived_file().
Status save_maintenance(FileSystem& files, const MaintenancePlan& plan,
                        const MaintenanceState& state);

}  // namespace bmad_mem
