// related - what is linked to an entry.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "entry_view.hpp"
#include "filters.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

struct Title {
  Relation relation;
  std::string_view text;
};

constexpr std::array<Title, 4> kTitles = {{{Relation::kReferences, "It refers to:"},
                                           {Relation::kReferencedBy, "It is referred to by:"},
                                           {Relation::kSameTopic, "Of the same topic:"},
                                           {Relation::kSimilar, "Reads alike:"}}};

void print_groups(Tool& tool, std::span<const RelatedEntry> related) {
  bool is_first = true;
  for (const Title& title : kTitles) {
    std::vector<Entry> entries;
    std::vector<std::string> heads;
    for (const RelatedEntry& each : related) {
      if (each.relation == title.relation) {
        entries.push_back(each.entry);
        heads.push_back(fmt::format("  {:.2f}  ", each.relevance));
      }
    }
    if (!entries.empty()) {
      tool.out().print("{}{}\n", is_first ? "" : "\n", tool.style().bold(title.text));
      print_entry_list(tool, entries, heads);
      is_first = false;
    }
  }
}

Result<ExitStatus> run_related(Tool& tool) {
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const std::string_view id = tool.args().positional(0);
  BMAD_TRY_ASSIGN(const std::vector<RelatedEntry> related, memory.related(id, filter));
  if (tool.json()) {
    for (const RelatedEntry& each : related) {
      tool.out().print(
          "{}\n", entry_json_line(each.entry, fmt::format(R"("relation":{},"relevance":{:.4f})",
                                                          json_quoted(relation_name(each.relation)),
                                                          each.relevance)));
    }
    return ExitStatus::kDone;
  }
  print_groups(tool, related);
  if (related.empty()) {
    tool.note(fmt::format("nothing is linked to {}", id));
  }
  return ExitStatus::kDone;
}

constexpr Positional kRelatedPositionals[] = {{.name = "ID", .help = "the id of an entry"}};

constexpr Option kRelatedOptions[] = {
    kTypeFilter,  kTagFilter,    kWhereFilter,       kAgentFilter,    kSessionFilter, kSinceFilter,
    kUntilFilter, kPinnedFilter, kNoSensitiveFilter, kArchivedFilter, kLimitFilter};

constexpr Example kRelatedExamples[] = {
    {.command = "bmad-mem related dec-01kaxx8v04q7m2s",
     .says = "what led to it, and what it led to"},
    {.command = "bmad-mem --json related finding-003 --type decision --limit 5",
     .says = "decisions about a finding, for a program"},
};

}  // namespace

const Command kRelated = {
    .name = "related",
    .group = Group::kRead,
    .summary = "show what is linked to an entry",
    .description =
        "Shows the entries that are linked to entry ID, each once: those that it refers to, those "
        "that refer to it, those of its topic, and those whose text is like its own. In front of "
        "each stands its relevance, 1 for references.\n\n"
        "With --json, \"relation\" is references, referenced_by, same_topic or similar.",
    .positionals = kRelatedPositionals,
    .options = kRelatedOptions,
    .examples = kRelatedExamples,
    .run = run_related,
};

}  // namespace bmad_mem::cli
