// purge - removes for good what was deleted.
#include "commands/commands.hpp"
#include "confirmation.hpp"
#include "exchange/git/git_history.hpp"
#include "removed_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_purge(Tool& tool) {
  const bool all = tool.args().has("all");
  const auto text = tool.args().maybe("verify");
  if (text && text->empty()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "the text to look for is empty",
                 .field = "verify"};
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (all && !is_confirmed(tool, "purge everything that was deleted, for good?")) {
    return ExitStatus::kFailed;
  }
  BMAD_TRY_ASSIGN(const DeletionReport report, memory.purge_deleted(all));
  const bool nothing = report.entries == 0 && report.sessions_gone.empty();
  if (nothing && !tool.json()) {
    tool.note(all ? "nothing is deleted"
                  : "nothing was deleted longer ago than it can be brought back; --all purges the "
                    "rest");
  } else {
    print_deletion(tool, report, {.dry_run = false, .purge = true});
  }
  return text ? verify_gone(tool, memory, *text) : ExitStatus::kDone;
}

constexpr Option kPurgeOptions[] = {
    {.name = "all", .help = "also what could still be brought back"},
    {.name = "verify",
     .value = "TEXT",
     .help = "afterwards search every file and the git history for this text"},
    kYesOption,
};

constexpr Example kPurgeExamples[] = {
    {.command = "bmad-mem purge", .says = "what can't be brought back any more"},
    {.command = "bmad-mem purge --all --verify hunter2",
     .says = "everything that was deleted; and look for what should have gone"},
};

}  // namespace

const Command kPurge = {
    .name = "purge",
    .group = Group::kCare,
    .summary = "remove for good what was deleted",
    .description =
        "Removes for good what was deleted longer ago than it can be brought back, which "
        "`maintain` "
        "does by the schedule of config.json as well, and finishes purges that were interrupted. "
        "Ids that were purged are not imported again.",
    .options = kPurgeOptions,
    .examples = kPurgeExamples,
    .exit_status =
        "0 done, 1 failed, the answer was no, or --verify found something, 2 wrong usage.",
    .run = run_purge,
};

}  // namespace bmad_mem::cli
