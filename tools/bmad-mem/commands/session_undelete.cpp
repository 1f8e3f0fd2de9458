// session undelete - brings deleted sessions back.
#include "commands/commands.hpp"
#include "tool.hpp"
#include "undelete_view.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_session_undelete(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  return undelete_and_tell(tool, memory, {.ids = {}, .sessions = tool.args().positionals()});
}

constexpr Positional kSessionUndeletePositionals[] = {
    {.name = "ID", .help = "the session", .max = 0}};

constexpr Example kSessionUndeleteExamples[] = {
    {.command = "bmad-mem session list --deleted", .says = "which there are, and until when"},
    {.command = "bmad-mem session undelete sess-2026-01-11-4q7m2s", .says = "bring one back"},
};

}  // namespace

const Command kSessionUndelete = {
    .name = "session undelete",
    .group = Group::kStart,
    .summary = "bring deleted sessions back",
    .description =
        "Brings back sessions that were deleted as a whole, and all entries that were deleted of "
        "those that are there, as long as they were not purged.",
    .positionals = kSessionUndeletePositionals,
    .examples = kSessionUndeleteExamples,
    .exit_status = "0 done, 1 failed, or nothing of that is deleted, 2 wrong usage.",
    .run = run_session_undelete,
};

}  // namespace bmad_mem::cli
