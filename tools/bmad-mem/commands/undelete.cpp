// undelete - brings deleted entries back.
#include "commands/commands.hpp"
#include "tool.hpp"
#include "undelete_view.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_undelete(Tool& tool) {
  UndeleteCriteria criteria{.ids = tool.args().positionals(), .sessions = {}};
  criteria.sessions.assign(tool.args().all("session").begin(), tool.args().all("session").end());
  if (criteria.ids.empty() && criteria.sessions.empty()) {
    return tool.wrong_usage("give the ids of entries, or --session ID");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  return undelete_and_tell(tool, memory, criteria);
}

constexpr Positional kUndeletePositionals[] = {
    {.name = "ID", .help = "an entry that was deleted", .min = 0, .max = 0}};

constexpr Option kUndeleteOptions[] = {
    {.name = "session",
     .value = "ID",
     .help = "all that is deleted of this session, and the session itself",
     .repeatable = true,
     .completion = Completion::kSession},
};

constexpr Example kUndeleteExamples[] = {
    {.command = "bmad-mem undelete dec-001", .says = "one entry, in all its versions"},
    {.command = "bmad-mem undelete --session $S", .says = "everything that was deleted of it"},
};

}  // namespace

const Command kUndelete = {
    .name = "undelete",
    .group = Group::kWrite,
    .summary = "bring deleted entries back",
    .description =
        "Puts deleted entries back into their logs, in all their versions. That works for 30 days "
        "(privacy.deleted_retention_days in config.json), unless they were purged. An entry whose "
        "id is in use again stays deleted.",
    .positionals = kUndeletePositionals,
    .options = kUndeleteOptions,
    .examples = kUndeleteExamples,
    .exit_status =
        "0 done, 1 failed, nothing of that is deleted, or an id is in use again, 2 wrong usage.",
    .run = run_undelete,
};

}  // namespace bmad_mem::cli
