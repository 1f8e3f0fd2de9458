// similar - ranked search with a text to find the like of.
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "entry_input.hpp"
#include "filters.hpp"
#include "hit_view.hpp"
#include "search_options.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

/// What the arguments say, or stdin for a single '-'.
Result<std::string> read_prose(const std::vector<std::string>& words) {
  if (words.size() == 1 && words.front() == "-") {
    return read_stdin();
  }
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? "" : " ";
    text += word;
  }
  return text;
}

Result<ExitStatus> run_similar(Tool& tool) {
  Query query;
  query.text_is_prose = true;
  BMAD_TRY_ASSIGN(query.filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY(read_search_options(tool.args(), query));
  BMAD_TRY_ASSIGN(query.text, read_prose(tool.args().positionals()));
  if (query.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "the text is empty; give one, or '-' to read it from stdin",
                 .field = "text"};
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const Result<std::vector<Hit>> hits = memory.query(query);
  if (!hits) {
    return tool.report_in(hits.error(), query.text);
  }
  print_answer(tool, query, {.hits = *hits});
  if (hits->empty()) {
    tool.note("nothing found that reads like it");
  }
  return ExitStatus::kDone;
}

constexpr Positional kSimilarPositionals[] = {
    {.name = "TEXT|-", .help = "any text, or - for what stands on stdin", .max = 0}};

constexpr Option kSimilarOptions[] = {
    kTypeFilter,    kTagFilter,     kWhereFilter,        kAgentFilter,       kSessionFilter,
    kSinceFilter,   kUntilFilter,   kPinnedFilter,       kNoSensitiveFilter, kArchivedFilter,
    kLimitFilter,   kSortOption,    kMinRelevanceOption, kWeightsOption,     kCombineOption,
    kRankingOption, kContextOption, kExplainOption,      kTimeoutOption,
};

constexpr Example kSimilarExamples[] = {
    {.command = "bmad-mem similar postgres ran out of connections",
     .says = "what is there of the kind"},
    {.command = "git log -1 --format=%B | bmad-mem similar - --type decision --limit 3",
     .says = "which decisions the last commit is about"},
};

}  // namespace

const Command kSimilar = {
    .name = "similar",
    .group = Group::kRead,
    .summary = "search for entries that read like a text",
    .description =
        "Searches for entries that read like TEXT, best first, and shows them as `query` does. "
        "The text may be long, such as a message or an error report; quotes, signs and colons in "
        "it mean nothing.",
    .positionals = kSimilarPositionals,
    .options = kSimilarOptions,
    .examples = kSimilarExamples,
    .exit_status =
        "0 done, also when nothing was found, 1 failed (the error's code is on stderr), "
        "2 wrong usage, 4 something could not be read (the rest is answered).",
    .run = run_similar,
};

}  // namespace bmad_mem::cli
