// delete - removes entries, by id or by any combination of criteria.
#include "commands/commands.hpp"
#include "confirmation.hpp"
#include "deletion_options.hpp"
#include "exchange/git/git_history.hpp"
#include "filters.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<DeletionCriteria> read_criteria(const Arguments& args) {
  BMAD_TRY_ASSIGN(EntryFilter filter, read_filter(args, system_clock().now()));
  BMAD_TRY_ASSIGN(std::string match, read_match(args));
  return DeletionCriteria{.ids = args.positionals(),
                          .sessions = std::move(filter.sessions),
                          .types = std::move(filter.types),
                          .tags = std::move(filter.tags),
                          .agents = std::move(filter.agents),
                          .since = filter.since,
                          .until = filter.until,
                          .match = std::move(match)};
}

Result<ExitStatus> run_delete(Tool& tool) {
  const Arguments& args = tool.args();
  const DeleteOptions options{.dry_run = args.has("dry-run"), .purge = args.has("purge")};
  if (args.has("verify") && (!options.purge || options.dry_run || !args.has("match"))) {
    return tool.wrong_usage(
        "--verify looks whether a text is gone: it goes with --purge and --match TEXT, not with "
        "--dry-run");
  }
  BMAD_TRY_ASSIGN(const DeletionCriteria criteria, read_criteria(args));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const ExitStatus status, delete_and_tell(tool, memory, criteria, options));
  if (!args.has("verify") || status != ExitStatus::kDone) {
    return status;
  }
  return verify_gone(tool, memory, criteria.match);
}

constexpr Positional kDeletePositionals[] = {
    {.name = "ID", .help = "an entry; goes in all its versions", .min = 0, .max = 0}};

constexpr Option kDeleteOptions[] = {
    kTypeFilter,
    kTagFilter,
    kAgentFilter,
    kSessionFilter,
    kSinceFilter,
    kUntilFilter,
    kMatchOption,
    kDryRunDeletion,
    {.name = "purge",
     .help = "for good and everywhere, at once: archives, what was evicted, deleted or set aside "
             "before"},
    {.name = "verify",
     .help = "with --purge and --match: search every file and the git history for what is left"},
    kYesOption,
};

constexpr Example kDeleteExamples[] = {
    {.command = "bmad-mem delete dec-001", .says = "one entry"},
    {.command = "bmad-mem delete --session $S --type conversation --until 90d --dry-run",
     .says = "what would go"},
    {.command = "bmad-mem delete --tag sensitive", .says = "everything with this tag"},
    {.command = "bmad-mem delete --match hunter2 --purge --verify",
     .says = "a password that should not have been there"},
};

}  // namespace

const Command kDelete = {
    .name = "delete",
    .group = Group::kWrite,
    .summary = "delete entries by id or filter",
    .description =
        "Deletes the entries for which everything holds that is given. They are found nowhere from "
        "then on, and for 30 days (privacy.deleted_retention_days in config.json) `undelete` "
        "brings them back. With --purge they are gone at once from every file of the memory, and "
        "cannot be imported again.\n\n"
        "Something must say which entries; a session as a whole goes with `session delete`. On a "
        "terminal the tool asks before; scripts are not asked.",
    .positionals = kDeletePositionals,
    .options = kDeleteOptions,
    .examples = kDeleteExamples,
    .exit_status =
        "0 done, also when no entry matched, 1 failed, an ID is unknown, the answer was no, or "
        "--verify found something, 2 wrong usage, 4 something could not be looked at.",
    .run = run_delete,
    .reads = true,
};

}  // namespace bmad_mem::cli
