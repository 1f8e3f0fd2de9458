// restore - brings back what compaction evicted.
#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_restore(Tool& tool) {
  const std::vector<std::string>& ids = tool.args().positionals();
  if (!tool.args().has("evicted")) {
    return tool.wrong_usage(
        "say what: `restore --evicted` for entries that compaction moved away, `session restore` "
        "for an archived session, `undelete` for what was deleted");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const std::uint64_t count, memory.restore_evicted(session, ids));
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("session_id", session).member("lines", count).end_object();
    tool.out().print("{}\n", json.text());
  } else {
    tool.out().print("restored {} of {}\n", format_count(count, "line", "lines"), session);
  }
  if (count < ids.size()) {
    tool.report({.code = ErrorCode::E_SESSION_NOT_FOUND,
                 .message = "the others are not among what was evicted, or are there again"});
  }
  return count < ids.size() ? ExitStatus::kFailed : ExitStatus::kDone;
}

constexpr Positional kRestorePositionals[] = {
    {.name = "ID", .help = "an entry; all without one", .min = 0, .max = 0}};

constexpr Option kRestoreOptions[] = {
    {.name = "evicted", .help = "what compaction moved to archive/ID.evicted.jsonl.gz"},
    kSessionOption,
};

constexpr Example kRestoreExamples[] = {
    {.command = "bmad-mem restore --evicted --session $S", .says = "everything it evicted"},
    {.command = "bmad-mem restore --evicted --session $S msg-1kep88znr4q7m2s", .says = "one entry"},
};

}  // namespace

const Command kRestore = {
    .name = "restore",
    .group = Group::kCare,
    .summary = "bring back what compaction evicted",
    .description =
        "Puts entries that compaction evicted back into their logs. One whose id is in use stays "
        "where it is. The next compaction may evict them again; pin what must stay.",
    .positionals = kRestorePositionals,
    .options = kRestoreOptions,
    .examples = kRestoreExamples,
    .exit_status = "0 done, 1 failed, or one of the IDs was not found, 2 wrong usage.",
    .run = run_restore,
};

}  // namespace bmad_mem::cli
