// session restore - brings archived sessions back.
#include "commands/commands.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_session_restore(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  ExitStatus status = ExitStatus::kDone;
  for (const std::string& id : tool.args().positionals()) {
    const Result<Session> session = memory.restore_session(id);
    if (!session) {
      tool.report(session.error());
      status = ExitStatus::kFailed;
    } else if (tool.json()) {
      tool.out().print("{}\n", session_as_json(memory, *session));
    } else {
      tool.out().print("restored {}, {}\n", tool.style().id(session->session_id),
                       format_size(session->size_bytes));
    }
  }
  return status;
}

constexpr Positional kSessionRestorePositionals[] = {
    {.name = "ID", .help = "the session", .max = 0, .completion = Completion::kSession},
};

constexpr Example kSessionRestoreExamples[] = {
    {.command = "bmad-mem session list --archived", .says = "which there are"},
    {.command = "bmad-mem session restore sess-2026-01-11-4q7m2s", .says = "bring one back"},
};

}  // namespace

const Command kSessionRestore = {
    .name = "session restore",
    .group = Group::kStart,
    .summary = "bring archived sessions back",
    .description =
        "Unpacks archived sessions, byte for byte as they were, and removes the archive when the "
        "folder is there. An archive that was made elsewhere is unpacked with care: only the names "
        "that a session has, regular files only, within limits.",
    .positionals = kSessionRestorePositionals,
    .examples = kSessionRestoreExamples,
    .exit_status = "0 done, 1 failed, or one of the sessions was refused, 2 wrong usage.",
    .run = run_session_restore,
};

}  // namespace bmad_mem::cli
