// session close - notes that a session is over.
#include "bmad_mem/rfc3339.hpp"
#include "commands/commands.hpp"
#include "maintenance_view.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_session_close(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  std::string id(tool.args().positional(0));
  if (tool.args().positionals().empty()) {
    BMAD_TRY_ASSIGN(id, choose_session(tool, memory));
  }
  BMAD_TRY_ASSIGN(const Session session, memory.close_session(id));
  note_maintenance(tool, memory);
  if (tool.json()) {
    tool.out().print("{}\n", session_as_json(memory, session));
  } else {
    tool.out().print("closed {} at {}\n", session.session_id,
                     format_rfc3339(session.closed_at.value_or(session.last_write)));
  }
  if (!session.notice.empty()) {
    tool.note(session.notice);
  }
  return ExitStatus::kDone;
}

constexpr Positional kSessionClosePositionals[] = {
    {.name = "ID", .help = "the session", .min = 0, .completion = Completion::kSession},
};

constexpr Option kSessionCloseOptions[] = {kSessionOption};

constexpr Example kSessionCloseExamples[] = {
    {.command = "bmad-mem session close sess-2026-01-11-4q7m2s", .says = "note that it is over"},
};

}  // namespace

const Command kSessionClose = {
    .name = "session close",
    .group = Group::kStart,
    .summary = "note that a session is over",
    .description =
        "Brings the statistics in the session's manifest up to date and notes the time. "
        "Compares the logs with what was written, and says when they differ. "
        "Nothing is locked away: the next write opens the session again.",
    .positionals = kSessionClosePositionals,
    .options = kSessionCloseOptions,
    .examples = kSessionCloseExamples,
    .run = run_session_close,
};

}  // namespace bmad_mem::cli
