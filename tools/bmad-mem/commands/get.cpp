// get - entries by id.
#include <algorithm>
#include <optional>
#include <vector>

#include "bmad_mem/rfc3339.hpp"
#include "commands/commands.hpp"
#include "entry_view.hpp"
#include "filters.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_get(Tool& tool) {
  BMAD_TRY_ASSIGN(const std::optional<Timestamp> as_of,
                  read_as_of(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const std::vector<std::string>& ids = tool.args().positionals();
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries,
                  memory.get(ids, tool.args().all("session"), as_of));
  bool first = true;
  for (const Entry& entry : entries) {
    if (tool.json()) {
      tool.out().print("{}\n", entry_json_line(entry));
    } else {
      tool.out().write(first ? "" : "\n");
      print_entry(tool, entry);
    }
    first = false;
  }
  bool all_found = true;
  for (const std::string& id : ids) {
    if (std::ranges::none_of(entries, [&](const Entry& entry) { return entry.id == id; })) {
      all_found = false;
      tool.report(
          {.code = ErrorCode::E_SESSION_NOT_FOUND,
           .message =
               as_of ? fmt::format("there was no entry {} at {}; `bmad-mem history {}` "
                                   "shows its versions",
                                   id, format_rfc3339(*as_of), id)
                     : fmt::format("there is no entry {}; `bmad-mem list` shows the newest", id)});
    }
  }
  return all_found ? ExitStatus::kDone : ExitStatus::kNothingFound;
}

constexpr Positional kGetPositionals[] = {
    {.name = "ID", .help = "ids of entries", .max = 0},
};

constexpr Option kGetOptions[] = {kSessionFilter, kAsOfFilter};

constexpr Example kGetExamples[] = {
    {.command = "bmad-mem get dec-01kaxx8v04q7m2s", .says = "all fields of one entry"},
    {.command = "bmad-mem get dec-01kaxx8v04q7m2s --as-of 7d", .says = "as it was a week ago"},
    {.command = "bmad-mem --json get dec-01kaxx8v04q7m2s msg-001", .says = "two, as JSON"},
};

}  // namespace

const Command kGet = {
    .name = "get",
    .group = Group::kRead,
    .summary = "show entries by id",
    .description =
        "Shows the latest version of each entry with one of these ids, with all its "
        "fields, in the order of the ids. With --as-of, the version that was the latest then.",
    .positionals = kGetPositionals,
    .options = kGetOptions,
    .examples = kGetExamples,
    .exit_status =
        "0 done, 1 failed (the error's code is on stderr), 2 wrong usage, 3 an id was "
        "not found (the others are shown), 4 something could not be read, so an id may be there.",
    .run = run_get,
};

}  // namespace bmad_mem::cli
