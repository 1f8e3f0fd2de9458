// pin, unpin - entries that are kept whatever their age.
#include "commands/commands.hpp"
#include "entry_view.hpp"
#include "filters.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> set_pins(Tool& tool, bool pinned) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const PinReport report,
                  memory.pin(tool.args().positionals(), pinned, tool.args().all("session")));
  for (const Entry& entry : report.changed) {
    if (tool.json()) {
      tool.out().print("{}\n", entry_json_line(entry));
    } else {
      tool.out().print("{} {}: {}\n", pinned ? "pinned" : "unpinned", entry.id, entry.headline);
    }
  }
  for (const Entry& entry : report.unchanged) {
    tool.note(fmt::format("{} is {}pinned already", entry.id, pinned ? "" : "not "));
  }
  for (const std::string& id : report.unknown_ids) {
    tool.report({.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("there is no entry {}; `bmad-mem list` shows the newest",
                                        printable(id)),
                 .field = "id"});
  }
  return report.unknown_ids.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

Result<ExitStatus> run_pin(Tool& tool) { return set_pins(tool, true); }
Result<ExitStatus> run_unpin(Tool& tool) { return set_pins(tool, false); }

constexpr Positional kPinPositionals[] = {{.name = "ID", .help = "ids of entries", .max = 0}};
constexpr Option kPinOptions[] = {kSessionFilter};

constexpr Example kPinExamples[] = {
    {.command = "bmad-mem pin dec-01kaxx8v04q7m2s", .says = "this decision stays"},
    {.command = "bmad-mem list --pinned", .says = "what is pinned"},
};
constexpr Example kUnpinExamples[] = {
    {.command = "bmad-mem unpin dec-01kaxx8v04q7m2s", .says = "it ages again, like others"},
};

}  // namespace

const Command kPin = {
    .name = "pin",
    .group = Group::kKnow,
    .summary = "keep entries whatever their age, and tell every agent",
    .description =
        "Pins the entries with these ids: a new version of each. A pinned entry never decays, is "
        "never evicted or removed for its age, outlives the archiving of its session, and stands "
        "among the constraints of a `context`, of which there are five.",
    .positionals = kPinPositionals,
    .options = kPinOptions,
    .examples = kPinExamples,
    .run = run_pin,
};

const Command kUnpin = {
    .name = "unpin",
    .group = Group::kKnow,
    .summary = "take the pins away from entries",
    .description = "Takes the pins away from the entries with these ids: a new version of each.",
    .positionals = kPinPositionals,
    .options = kPinOptions,
    .examples = kUnpinExamples,
    .run = run_unpin,
};

}  // namespace bmad_mem::cli
