// consolidate - knowledge that says nearly the same becomes one item.
#include <string>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "filters.hpp"
#include "knowledge_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

void print_json(Tool& tool, const MergeProposal& proposal, bool applied) {
  JsonWriter json;
  json.begin_object().member("applied", applied);
  json.member("similarity", proposal.similarity).member("trust", proposal.trust);
  json.key("into");
  write_item(json, proposal.into);
  json.key("parts").begin_array();
  for (const KnowledgeItem& part : proposal.parts) {
    write_item(json, part);
  }
  tool.out().print("{}\n", json.end_array().end_object().text());
}

void print_text(Tool& tool, const MergeProposal& proposal) {
  const KnowledgeItem& into = proposal.into;
  std::string name(category_name(into.category));
  if (!into.key.empty()) {
    name += " " + printable(into.key);
  }
  tool.out().print("{}  {}\n", tool.style().bold(name),
                   tool.style().faint(fmt::format("{:.0f} % alike  trust {:.2f}",
                                                  100 * proposal.similarity, proposal.trust)));
  tool.out().print("  {} {}  {}\n", tool.style().green("stays"), into.id, printable(into.value));
  for (const KnowledgeItem& part : proposal.parts) {
    tool.out().print("  goes  {}  {}\n", part.id, printable(part.value));
  }
}

Result<ExitStatus> run_consolidate(Tool& tool) {
  const Arguments& args = tool.args();
  ConsolidateOptions options;
  options.dry_run = !args.has("apply");
  BMAD_TRY_ASSIGN(options.category, read_category(args));
  BMAD_TRY_ASSIGN(options.min_similarity,
                  read_share(args, "min-similarity", options.min_similarity));
  options.sessions.assign(args.all("session").begin(), args.all("session").end());
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const ConsolidateReport report, Knowledge(memory).consolidate(options));
  for (const MergeProposal& proposal : report.merged) {
    if (tool.json()) {
      print_json(tool, proposal, !options.dry_run);
    } else {
      print_text(tool, proposal);
    }
  }
  if (report.merged.empty()) {
    tool.note("nothing that is known says nearly the same");
  } else if (options.dry_run) {
    tool.note("nothing was merged; --apply does it");
  }
  return ExitStatus::kDone;
}

constexpr Option kConsolidateOptions[] = {
    {.name = "apply", .help = "merge; without it, only say what would be merged"},
    {.name = "min-similarity",
     .value = "SHARE",
     .help = "how much must be alike, from 0.3 to 1",
     .fallback = "0.6"},
    kCategoryOption,
    kSessionFilter,
};

constexpr Example kConsolidateExamples[] = {
    {.command = "bmad-mem consolidate", .says = "what says nearly the same"},
    {.command = "bmad-mem consolidate --category project_fact --min-similarity 0.8 --apply",
     .says = "merge facts that hardly differ"},
};

}  // namespace

const Command kConsolidate = {
    .name = "consolidate",
    .group = Group::kKnow,
    .summary = "merge knowledge that says nearly the same",
    .description =
        "Lists what is known and says nearly the same. With --apply, the surest of them stays "
        "(of equals the most trusted, then the newest), as trusted as the least trusted one; the "
        "others are kept as dropped and name it. What may contradict each other is left alone: "
        "another number, a negation, one word in the place of another.",
    .options = kConsolidateOptions,
    .examples = kConsolidateExamples,
    .run = run_consolidate,
};

}  // namespace bmad_mem::cli
