// recall - what is known, and what was found and waits for somebody to look at it.
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "filters.hpp"
#include "knowledge_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<RecallOptions> read_recall_options(const Arguments& args) {
  RecallOptions options;
  BMAD_TRY_ASSIGN(options.category, read_category(args));
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(args, system_clock().now()));
  options.agent_id = args.value("agent");
  options.key = args.value("key");
  options.sessions = filter.sessions;
  options.limit = filter.limit;
  options.without_sensitive = filter.without_sensitive;
  options.candidates = args.has("candidates");
  options.contradicted_only = args.has("contradicted");
  BMAD_TRY_ASSIGN(options.min_confidence, read_share(args, "min-confidence", 0));
  options.as_of = filter.as_of;
  return options;
}

/// Reviews the ids behind option `name`. False when one of them is no candidate's.
Result<bool> review(Tool& tool, Knowledge& knowledge, std::string_view name, Review review) {
  const std::span<const std::string> ids = tool.args().all(name);
  if (ids.empty()) {
    return true;
  }
  BMAD_TRY_ASSIGN(const ReviewReport report, knowledge.review(ids, review));
  if (tool.json()) {
    print_items(tool, report.reviewed);
  } else {
    for (const KnowledgeItem& item : report.reviewed) {
      tool.out().print("{} {}: {}\n", review_name(review), item.id, printable(item.value));
    }
  }
  for (const std::string& id : report.unknown_ids) {
    tool.report({.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("{} is no candidate; `bmad-mem recall --candidates` lists "
                                        "them",
                                        printable(id)),
                 .field = std::string(name)});
  }
  return report.unknown_ids.empty();
}

std::string_view nothing_note(const RecallOptions& options) {
  if (options.candidates) {
    return "there are no candidates to look at";
  }
  return "nothing of the kind is known; `bmad-mem remember` tells";
}

Result<ExitStatus> run_recall(Tool& tool) {
  BMAD_TRY_ASSIGN(const RecallOptions options, read_recall_options(tool.args()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  Knowledge knowledge(memory);
  if (tool.args().has("accept") || tool.args().has("drop")) {
    BMAD_TRY_ASSIGN(const bool accepted, review(tool, knowledge, "accept", Review::kAccepted));
    BMAD_TRY_ASSIGN(const bool dropped, review(tool, knowledge, "drop", Review::kDropped));
    return accepted && dropped ? ExitStatus::kDone : ExitStatus::kFailed;
  }
  BMAD_TRY_ASSIGN(const std::vector<KnowledgeItem> items, knowledge.recall(options));
  print_items(tool, items);
  if (items.empty()) {
    tool.note(nothing_note(options));
  } else if (options.candidates) {
    tool.note("`bmad-mem recall --accept ID` keeps one, --drop ID does not");
  }
  return ExitStatus::kDone;
}

constexpr Option kRecallOptions[] = {
    kCategoryOption,
    {.name = "agent", .value = "NAME", .help = "only what this agent has learned"},
    {.name = "key", .letter = 'k', .value = "KEY", .help = "only what is known under this name"},
    {.name = "as-of",
     .value = "TIME",
     .help = "what was known then: 2026-01-11, an RFC 3339 time, 24h, 7d"},
    {.name = "min-confidence", .value = "SHARE", .help = "only what is at least so sure"},
    {.name = "contradicted", .help = "only that about which different things were stated"},
    {.name = "candidates", .help = "what was found in messages and waits for somebody to look"},
    {.name = "accept",
     .value = "ID",
     .help = "a candidate that is to be known from now on",
     .repeatable = true},
    {.name = "drop",
     .value = "ID",
     .help = "a candidate that is not to come up again",
     .repeatable = true},
    kSessionFilter,
    kNoSensitiveFilter,
    limit_option("at most so many; 0: all"),
};

constexpr Example kRecallExamples[] = {
    {.command = "bmad-mem recall", .says = "the 20 things that matter most"},
    {.command = "bmad-mem recall --category pattern --agent MARS --limit 5",
     .says = "which patterns MARS works by"},
    {.command = "bmad-mem recall --contradicted",
     .says = "where statements differ, and what holds"},
    {.command = "bmad-mem recall --candidates", .says = "what users seem to want"},
    {.command = "bmad-mem recall --accept fact-c2f0 --drop fact-c9a1",
     .says = "keep one of them and not the other"},
};

}  // namespace

const Command kRecall = {
    .name = "recall",
    .group = Group::kKnow,
    .summary = "list knowledge, most important first",
    .description =
        "Lists what is known over all sessions: category and key, how sure it is, who has learned "
        "it, when and in which entry, and below it what it says. First comes what is sure and "
        "often "
        "asked for, or new. Where different things were stated under one key, all of them follow, "
        "with the one that holds.",
    .options = kRecallOptions,
    .examples = kRecallExamples,
    .run = run_recall,
    .reads = true,
};

}  // namespace bmad_mem::cli
