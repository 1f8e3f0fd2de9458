// complete-sessions - session ids, for the completions of shells. Quick, and silent when there is
// nothing to complete.
#include "commands/commands.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_complete_sessions(Tool& tool) {
  if (Result<MemoryManager> memory = tool.open()) {
    if (const Result<std::vector<Session>> sessions = memory->list_sessions()) {
      for (const Session& session : *sessions) {
        tool.out().print("{}\n", session.session_id);
      }
    }
    if (const Result<std::vector<ArchivedSession>> archived = memory->archived_sessions()) {
      for (const ArchivedSession& session : *archived) {
        tool.out().print("{}\n", session.session_id);
      }
    }
  }
  return ExitStatus::kDone;
}

}  // namespace

const Command kCompleteSessions = {
    .name = "complete-sessions",
    .group = Group::kHidden,
    .summary = "print session ids for a shell's completion",
    .description = "Prints the ids of all sessions, archived ones too, or nothing.",
    .run = run_complete_sessions,
};

}  // namespace bmad_mem::cli
