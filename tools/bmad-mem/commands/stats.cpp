// stats - what there is, in numbers.
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "session_choice.hpp"
#include "statistics_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

/// What maintenance would do now; with an id, only to this session. Nothing where that can't be
/// found out: `maintain` says why.
MaintenanceReport due_maintenance(MemoryManager& memory, std::string_view id) {
  const Result<MaintenanceReport> report = memory.maintain({.only_due = true, .dry_run = true});
  if (!report) {
    return {.next_due = Timestamp::max()};
  }
  MaintenanceReport due = *report;
  std::erase_if(due.done, [&](const MaintenanceAction& action) {
    return !id.empty() && !action.session_id.empty() && action.session_id != id;
  });
  return due;
}

Result<ExitStatus> run_for_session(Tool& tool, MemoryManager& memory, std::string_view id) {
  BMAD_TRY_ASSIGN(const SessionStatistics statistics, memory.statistics(id));
  BMAD_TRY_ASSIGN(const Session session, memory.load_session(id));
  const std::string only(id);
  BMAD_TRY_ASSIGN(std::vector<DecayReport> decay, memory.decay({&only, 1}));
  const MaintenanceReport maintenance = due_maintenance(memory, id);
  SessionLife life{.state = std::string(session_state(memory, session)), .decay = {}};
  if (!decay.empty()) {
    life.decay = std::move(decay.front());
  }
  if (tool.json()) {
    tool.out().print("{}\n", statistics_as_json(statistics, life, &maintenance));
  } else {
    print_statistics(tool, statistics, life);
    print_maintenance(tool, maintenance);
  }
  return ExitStatus::kDone;
}

/// The states of the sessions in `statistics`, in their order.
std::vector<std::string> states_of(const MemoryManager& memory,
                                   const GlobalStatistics& statistics) {
  std::vector<std::string> states;
  for (const SessionStatistics& each : statistics.sessions) {
    const Result<Session> session = memory.load_session(each.session_id);
    states.emplace_back(session ? session_state(memory, *session) : "damaged");
  }
  return states;
}

Result<ExitStatus> run_stats(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (const auto id = tool.args().maybe("session")) {
    return run_for_session(tool, memory, *id);
  }
  BMAD_TRY_ASSIGN(const GlobalStatistics statistics, memory.global_statistics());
  const MaintenanceReport maintenance = due_maintenance(memory, {});
  const std::vector<std::string> states = states_of(memory, statistics);
  const bool has_any = !statistics.sessions.empty() || statistics.problems.empty();
  if (!has_any) {
    // No figure of a read that failed.
  } else if (tool.json()) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      tool.out().print(
          "{}\n", statistics_as_json(statistics.sessions[i], {.state = states[i], .decay = {}}));
    }
    tool.out().print("{}\n", total_as_json(statistics, maintenance));
  } else {
    print_statistics(tool, statistics, states);
    if (!maintenance.done.empty()) {
      tool.out().write("\n");
      print_maintenance(tool, maintenance);
    }
  }
  for (const Error& problem : statistics.problems) {
    tool.leave_out(problem);
  }
  return ExitStatus::kDone;
}

constexpr Option kStatsOptions[] = {{.name = "session",
                                     .value = "ID",
                                     .help = "this session, by type",
                                     .fallback = "all, a line each",
                                     .completion = Completion::kSession}};

constexpr Example kStatsExamples[] = {
    {.command = "bmad-mem stats", .says = "all sessions and the total"},
    {.command = "bmad-mem stats --session sess-2026-01-11-4q7m2s",
     .says = "one session by type, with its quota"},
};

}  // namespace

const Command kStats = {
    .name = "stats",
    .group = Group::kRead,
    .summary = "count entries, versions, damaged lines and bytes",
    .description =
        "Counts, from the logs as they are now: entries (distinct ids), versions (good "
        "lines), damaged lines (those that `verify` names), bytes. Of one session also its state, "
        "how "
        "full it is, and how many of its entries count how much by now. Shows as well what "
        "maintenance is due; `maintain` does it.",
    .options = kStatsOptions,
    .examples = kStatsExamples,
    .exit_status =
        "0 done, 1 failed, 2 wrong usage, 4 a session could not be read (the others are shown).",
    .run = run_stats,
};

}  // namespace bmad_mem::cli
