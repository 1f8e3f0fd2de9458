// session delete - deletes sessions with all that is in them.
#include <fmt/format.h>

#include "commands/commands.hpp"
#include "confirmation.hpp"
#include "removed_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_session_delete(Tool& tool) {
  const Arguments& args = tool.args();
  const DeleteOptions options{.dry_run = args.has("dry-run"), .purge = args.has("purge")};
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (!options.dry_run &&
      !is_confirmed(tool, fmt::format("{} {}{}?", options.purge ? "purge" : "delete",
                                      fmt::join(args.positionals(), ", "),
                                      options.purge ? ", for good" : ""))) {
    return ExitStatus::kFailed;
  }
  ExitStatus status = ExitStatus::kDone;
  for (const std::string& id : args.positionals()) {
    if (const Result<DeletionReport> report = memory.delete_session(id, options)) {
      print_deletion(tool, *report, options);
    } else {
      tool.report(report.error());
      status = ExitStatus::kFailed;
    }
  }
  return status;
}

constexpr Positional kSessionDeletePositionals[] = {
    {.name = "ID", .help = "the session", .max = 0, .completion = Completion::kSession},
};

constexpr Option kSessionDeleteOptions[] = {
    {.name = "purge", .help = "for good and everywhere, at once, also one that is deleted already"},
    {.name = "dry-run", .help = "say what would go; change nothing"},
    kYesOption,
};

constexpr Example kSessionDeleteExamples[] = {
    {.command = "bmad-mem session delete sess-2026-01-11-4q7m2s", .says = "can be brought back"},
    {.command = "bmad-mem session delete --purge --yes sess-2026-01-11-4q7m2s",
     .says = "cannot, and nobody is asked"},
};

}  // namespace

const Command kSessionDelete = {
    .name = "session delete",
    .group = Group::kStart,
    .summary = "delete sessions with all that is in them",
    .description =
        "Moves sessions, archived ones too, under deleted/. Nothing finds them there, and for 30 "
        "days (privacy.deleted_retention_days in config.json) `session undelete` brings them "
        "back. With --purge they are gone at once: folder, archive, what was evicted, what was "
        "deleted before.\n\n"
        "Git keeps what was committed; `forget --verify` looks there.",
    .positionals = kSessionDeletePositionals,
    .options = kSessionDeleteOptions,
    .examples = kSessionDeleteExamples,
    .exit_status =
        "0 done, 1 failed, one of the sessions was refused, or the answer was no, 2 wrong usage.",
    .run = run_session_delete,
};

}  // namespace bmad_mem::cli
