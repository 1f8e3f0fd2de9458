// maintenance_state.cpp - reads and writes maintenance.json, and computes when a job is to run.
#include "lifecycle/maintenance_state.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kFileSizeMax = 16U << 20U;  // Some 80 bytes for each deletion.
constexpr std::int64_t kVersion = 1;

/// A member's time; absent and malformed are the same here.
std::optional<Timestamp> time_of(JsonValue object, std::string_view key) {
  return try_parse_rfc3339(object[key].string());
}

void write_time(JsonWriter& writer, std::string_view key, const std::optional<Timestamp>& time) {
  if (time) {
    writer.member(key, format_rfc3339(*time));
  }
}

MaintenanceState parse_state(std::string_view text) {
  MaintenanceState state;
  const ParsedJson root(text);
  if (!root || (*root)["version"].integer() != kVersion) {
    return state;
  }
  for (const MaintenanceJob job : kMaintenanceJobs) {
    state.last[static_cast<std::size_t>(job)] = time_of((*root)["last"], maintenance_job_name(job));
  }
  const JsonValue clock = (*root)["clock"];
  state.clock = {.last_seen = time_of(clock, "last_seen"),
                 .held_since = time_of(clock, "held_since"),
                 .held_last = time_of(clock, "held_last")};
  state.retention_after = (*root)["retention_after"].string();
  for (const JsonMember grace : (*root)["graces"].members()) {
    if (const auto since = try_parse_rfc3339(grace.value.string())) {
      state.graces.emplace(grace.key, *since);
    }
  }
  return state;
}

bool is_near(const ClockState& state, Timestamp now) {
  return state.last_seen && now - *state.last_seen <= kSteadyStepMax;
}

/// Whether the hold goes on. It begins anew when the clock went backwards or was silent for long.
bool goes_on(const ClockState& state, Timestamp now) {
  return state.held_since && state.held_last && now >= *state.held_last &&
         now - *state.held_last <= kHeldSilenceMax;
}

/// Whether the clock has gone on from the jump that is held for long enough.
bool confirms(const ClockState& state, Timestamp now) {
  return goes_on(state, now) && now - *state.held_since >= kHoldMin;
}

}  // namespace

std::string_view maintenance_job_name(MaintenanceJob job) {
  static constexpr std::array<std::string_view, kMaintenanceJobCount> kNames = {
      "decay", "archive", "retention", "purge"};
  return kNames[static_cast<std::size_t>(job)];
}

Result<MaintenancePlan> maintenance_plan(const Config& config) {
  static constexpr std::chrono::hours kDaily{24};
  const Result<Cron> purge = parse_cron(config.privacy.purge_schedule_cron);
  if (!purge) {
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = fmt::format("is no schedule at column {}: {}", purge.error().column,
                                        purge.error().message),
                 .path = kConfigFile,
                 .field = "memory_config.privacy.purge_schedule_cron"};
  }
  const bool archives =
      config.lifecycle.archive_after_idle_days > 0 && config.lifecycle.archive != "never";
  const bool purges = config.privacy.auto_purge;
  const auto daily_if = [](bool is_on) { return is_on ? std::optional(kDaily) : std::nullopt; };
  return MaintenancePlan{.every = {std::chrono::hours(config.decay.update_interval_hours),
                                   daily_if(archives), daily_if(purges)},
                         .purge = purges ? std::optional(*purge) : std::nullopt};
}

std::optional<Timestamp> next_due(const MaintenancePlan& plan, const MaintenanceState& state,
                                  MaintenanceJob job) {
  const std::optional<Timestamp>& last = state.last_of(job);
  const bool by_cron = job == MaintenanceJob::kPurge;
  const std::optional<std::chrono::hours>& interval = plan.every[static_cast<std::size_t>(job)];
  if (by_cron ? !plan.purge : !interval) {
    return std::nullopt;
  }
  if (!last) {
    return Timestamp{};
  }
  return by_cron ? next_after(*plan.purge, *last) : *last + *interval;
}

std::optional<Timestamp> next_due(const MaintenancePlan& plan, const MaintenanceState& state) {
  std::optional<Timestamp> earliest;
  for (const MaintenanceJob job : kMaintenanceJobs) {
    const std::optional<Timestamp> due = next_due(plan, state, job);
    if (due && (!earliest || *due < *earliest)) {
      earliest = due;
    }
  }
  return earliest;
}

bool is_due(const MaintenancePlan& plan, const MaintenanceState& state, MaintenanceJob job,
            Timestamp now) {
  const std::optional<Timestamp> due = next_due(plan, state, job);
  return due && (*due <= now || state.last_of(job) > now);
}

bool is_due(const MaintenancePlan& plan, const MaintenanceState& state, Timestamp now) {
  return std::ranges::any_of(kMaintenanceJobs,
                             [&](MaintenanceJob job) { return is_due(plan, state, job, now); });
}

Result<MaintenanceState> load_maintenance(FileSystem& files) {
  const Result<std::string> text = read_if_there(files, kMaintenanceFile, kFileSizeMax);
  if (!text && text.error().code != ErrorCode::E_SIZE_LIMIT) {
    return text.error();
  }
  return parse_state(text.value_or(""));
}

Status save_maintenance(FileSystem& files, const MaintenancePlan& plan,
                        const MaintenanceState& state) {
  JsonWriter writer;
  writer.begin_object().member("version", kVersion);
  write_time(writer, "next_due", next_due(plan, state));
  writer.key("last").begin_object();
  for (const MaintenanceJob job : kMaintenanceJobs) {
    write_time(writer, maintenance_job_name(job), state.last_of(job));
  }
  writer.end_object().key("clock").begin_object();
  write_time(writer, "last_seen", state.clock.last_seen);
  write_time(writer, "held_since", state.clock.held_since);
  write_time(writer, "held_last", state.clock.held_last);
  writer.end_object();
  if (!state.graces.empty()) {
    writer.key("graces").begin_object();
    for (const auto& [id, since] : state.graces) {
      writer.member(id, format_rfc3339(since));
    }
    writer.end_object();
  }
  writer.member_unless_empty("retention_after", state.retention_after).end_object();
  return replace_derived_file(files, kMaintenanceFile, writer.take() + '\n');
}

SteadyTime advance_clock(const ClockState& state, Timestamp now) {
  ClockState next = state;
  if (confirms(next, now)) {
    next = {.last_seen = next.held_last};
  }
  if (is_near(next, now)) {  // Also when it went backwards: the lower value counts.
    return {.time = now, .state = {.last_seen = now}};
  }
  assert(!next.last_seen || *next.last_seen < now);
  next.held_since = goes_on(next, now) ? next.held_since : now;
  next.held_last = now;
  return {.time = next.last_seen.value_or(Timestamp{}), .is_held = true, .state = next};
}

void update_graces(Graces& graces, std::span<const Deletion> deletions, const ClockState& state,
                   Timestamp now) {
  const std::optional<Timestamp> last = state.held_last ? state.held_last : state.last_seen;
  const bool goes_on = last && now - *last <= kSilenceMax;
  Graces next;
  for (const Deletion& each : deletions) {
    const auto known = graces.find(each.deletion_id);
    if (goes_on && known != graces.end()) {
      // A mark far ahead was made while the clock was.
      next[each.deletion_id] = known->second > now + kSilenceMax ? now : known->second;
    } else if (goes_on && each.deleted_at >= *last - kSteadyStepMax && each.deleted_at <= now) {
      next[each.deletion_id] = each.deleted_at;
    } else {
      next[each.deletion_id] = std::max(now, last.value_or(now));
    }
  }
  graces = std::move(next);
}

}  // namespace bmad_mem
