// list - the newest entries.
#include <vector>

#include "commands/commands.hpp"
#include "entry_view.hpp"
#include "filters.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_list(Tool& tool) {
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries, memory.list(filter));
  if (tool.json()) {
    for (const Entry& entry : entries) {
      tool.out().print("{}\n", entry_json_line(entry));
    }
    return ExitStatus::kDone;
  }
  print_entry_list(tool, entries);
  if (entries.empty()) {
    tool.note("there is no such entry");
  } else if (filter.limit != 0 && entries.size() == filter.limit) {
    tool.note(fmt::format("these are the newest {}; there may be more (--limit N)", filter.limit));
  }
  return ExitStatus::kDone;
}

constexpr Option kListOptions[] = {
    kTypeFilter,  kTagFilter,  kWhereFilter,  kAgentFilter,       kSessionFilter,  kSinceFilter,
    kUntilFilter, kAsOfFilter, kPinnedFilter, kNoSensitiveFilter, kArchivedFilter, kLimitFilter};

constexpr Example kListExamples[] = {
    {.command = "bmad-mem list", .says = "the newest 20 entries of all sessions"},
    {.command = "bmad-mem list --type decision --since 7d", .says = "what was decided this week"},
    {.command = "bmad-mem list --as-of 2026-03-01",
     .says = "what was there at the end of that day"},
    {.command = "bmad-mem --json list --limit 0", .says = "everything, for a program"},
};

}  // namespace

const Command kList = {
    .name = "list",
    .group = Group::kRead,
    .summary = "list entries, newest first",
    .description =
        "Lists entries, newest first, a line each: id, time (UTC), type, who, what. "
        "Pinned entries have a star, sensitive ones say so. Filters of different kinds must all "
        "hold.",
    .options = kListOptions,
    .examples = kListExamples,
    .run = run_list,
};

}  // namespace bmad_mem::cli
