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
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/cron.hpp"
#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/result.hpp"
#include "store/config.hpp"

namespace bmad_mem {

// What time it is for the purpose of removing things: a clock that jumps ahead
// must never delete early.
//
//   clock    Mon   Tue   +1 year   +1 year   Wed        Thu      a battery, a virtual machine,
//   `date` trusted  Mon   Tue   Tue       Tue       Wed        Thu
//
//   clock    Mon   Tue   (machine off)   Mon   Mon evening   Tue
//   trusted  Mon   Tue                   Tue   Tue           Tue
//
// A reading up to two days beyond the last trusted one is believed. One further ahead is held back:
// it is believed when a later run, at least a day after the first sight of the jump and without a
// step backwards in between, finds the clock still going on from there. Even then only the readings
// that were held are believed; when the last step is itself too large, it is held in its turn. So a
// machine that runs maintenance once a week, or every other month, lags one run behind and still
// gets everything done.
//
// Promise: as long as each stretch of wrong readings is off by one amount, lasts less than a day
// and is followed by a right reading, the trusted time is never more than two days ahead of the
// true one. What no function of clock readings can tell from a machine that is seldom on is a clock
// set wrong twice, a day to half a year apart, with no right reading between.

/// The furthest step that is believed at once: twice the day between two runs of maintenance.
inline constexpr std::chrono::hours kSteadyStepMax{48};
/// How long a jump must last before it is believed. Wrong clocks are noticed within a day.
inline constexpr std::chrono::hours kHoldMin{24};
/// After a longer silence a held reading says nothing: the hold begins again. A project that is
/// visited twice a year ages still, and a clock that is set to another year twice is not believed.
inline constexpr std::chrono::days kHeldSilenceMax{200};
/// After a longer silence the graces of deletions begin again.
inline constexpr std::chrono::days kSilenceMax{31};

/// What is remembered from run to run. All absent: nothing is known, so the first reading is held.
struct ClockState {
  std::optional<Timestamp> last_seen;   ///< The last trusted time.
  std::optional<Timestamp> held_since;  ///< The first sight of a jump that isn't believed yet.
  std::optional<Timestamp> held_last;   ///< The last sight of it; there when held_since is.

  friend bool operator==(const ClockState&, const ClockState&) = default;
};

struct SteadyTime {
  /// What to compare expiry times with: at most the clock's time; 1970, before which nothing
  /// expires, when no reading was ever trusted.
  Timestamp time{};
  bool is_held = false;  ///< The clock is ahead of `time`, and isn't believed yet.
  ClockState state;      ///< To be stored for the next run.
};

/// Takes in the reading `now`.
SteadyTime advance_clock(const ClockState& state, Timestamp now);

/// What was deleted can be brought back for a while. The clock at the deletion may have been years
/// behind or ahead, so each deletion counts from the first run that saw it: by id, since when.
///
///   clock at the deletion   between the last run and this one    years behind    years ahead
///   counts from             the deletion                         this run        this run
using Graces = std::map<std::string, Timestamp, std::less<>>;

/// Brings `graces` up to `deletions`, all there are, in a run that reads `now`; `state` is from
/// before it. After a silence, or a jump, of more than kSilenceMax all of them begin again: nobody
/// knows how much of it was time. So a grace may last longer, and is not shorter for a wrong clock.
void update_graces(Graces& graces, std::span<const Deletion> deletions, const ClockState& state,
                   Timestamp now);

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
  /// In the order of the enum. Decay is always on: access logs are folded in any case.
  std::array<std::optional<std::chrono::hours>, kMaintenanceJobCount> every{};
  std::optional<Cron> purge;  ///< Has no interval.
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
