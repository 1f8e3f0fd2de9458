// stats - what there is, in numbers.
#include "commands/commands.hpp"
#include "session_choice.hpp"
#include "statistics_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_for_session(Tool& tool, const MemoryManager& memory, std::string_view id) {
  BMAD_TRY_ASSIGN(const SessionStatistics statistics, memory.statistics(id));
  if (tool.json()) {
    tool.out().print("{}\n", statistics_as_json(statistics));
  } else {
    print_statistics(tool, statistics);
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (const auto id = tool.args().maybe("session")) {
    return run_for_session(tool, memory, *id);
  }
  BMAD_TRY_ASSIGN(const GlobalStatistics statistics, memory.global_statistics());
  if (tool.json()) {
    for (const SessionStatistics& session : statistics.sessions) {
      tool.out().print("{}\n", statistics_as_json(session));
    }
    tool.out().print("{}\n", total_as_json(statistics));
  } else {
    print_statistics(tool, statistics);
  }
  for (const Error& problem : statistics.problems) {
    tool.report(problem);
  }
  return statistics.problems.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

constexpr Option kOptions[] = {{.name = "session",
                                .value = "ID",
                                .help = "this session, by type",
                                .fallback = "all, a line each",
                                .completion = Completion::kSession}};

constexpr Example kExamples[] = {
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
        "lines), damaged lines (those that `verify` names), bytes.",
    .options = kOptions,
    .examples = kExamples,
    .exit_status =
        "0 done, 1 failed, or a session could not be read (the others are shown), "
        "2 wrong usage.",
    .run = run,
};

}  // namespace bmad_mem::cli
