// query - ranked search.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "entry_input.hpp"
#include "filters.hpp"
#include "hit_view.hpp"
#include "search_options.hpp"
#include "text.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

/// What a query in JSON says itself.
constexpr std::array<std::string_view, 13> kSaidInJson = {
    "type",  "tag",    "where", "topic", "agent",         "session", "since",
    "until", "pinned", "limit", "sort",  "min-relevance", "weights"};

Result<Query> query_from_words(const Arguments& args) {
  Query query;
  for (const std::string& topic : args.all("topic")) {
    if (topic.empty()) {
      return Error{.code = ErrorCode::E_INVALID_QUERY,
                   .message = "the name of the topic is empty; `bmad-mem topics` lists them",
                   .field = "topic"};
    }
    query.topics.push_back(topic);
  }
  for (const std::string& word : args.positionals()) {
    query.text += query.text.empty() ? "" : " ";
    query.text += word;
  }
  BMAD_TRY_ASSIGN(query.filter, read_filter(args, system_clock().now()));
  return query;
}

/// The text of --json-query, and what messages call it; empty for the argument itself.
struct JsonSource {
  std::string text;
  std::string name;
};

Result<JsonSource> read_json_source(std::string_view argument) {
  if (argument == "-") {
    BMAD_TRY_ASSIGN(std::string text, read_stdin());
    return JsonSource{.text = std::move(text), .name = "<stdin>"};
  }
  if (argument.starts_with('@')) {
    std::string path(argument.substr(1));
    BMAD_TRY_ASSIGN(std::string text, read_whole_file(path));
    return JsonSource{.text = std::move(text), .name = std::move(path)};
  }
  return JsonSource{.text = std::string(argument), .name = {}};
}

Result<ExitStatus> search(Tool& tool, const Query& query) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const Result<QueryAnswer> answer = memory.ask(query);
  if (!answer) {
    const Error& error = answer.error();
    if (error.field == "text") {
      return tool.report_in(error, query.text);
    }
    return error;
  }
  print_answer(tool, query, *answer);
  if (answer->hits.empty()) {
    tool.note(query.text.empty()
                  ? "nothing found"
                  : fmt::format("nothing found for '{}'", shortened(query.text, 200)));
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_json_query(Tool& tool, std::string_view argument) {
  const Arguments& args = tool.args();
  const auto* const said_twice =
      std::ranges::find_if(kSaidInJson, [&](std::string_view option) { return args.has(option); });
  if (said_twice != kSaidInJson.end()) {
    return tool.wrong_usage(fmt::format("--{} belongs into the JSON of --json-query", *said_twice));
  }
  if (!args.positionals().empty()) {
    return tool.wrong_usage("give either TEXT or --json-query, not both");
  }
  BMAD_TRY_ASSIGN(const JsonSource source, read_json_source(argument));
  const Timestamp now = system_clock().now();
  BMAD_TRY_ASSIGN(const std::optional<Timestamp> as_of, read_as_of(args, now));
  Result<Query> query = read_json_query(source.text, as_of.value_or(now));
  if (!query) {
    Error error = std::move(query).error();
    error.path = source.name;
    return tool.report_in(error, source.text);
  }
  BMAD_TRY(read_search_options(args, *query));
  query->filter.as_of = as_of;  // The JSON has no member for these three.
  query->filter.archived = archived_choice(args.value("archived"));
  query->filter.without_sensitive = args.has("no-sensitive");
  return search(tool, *query);
}

Result<ExitStatus> run_query(Tool& tool) {
  if (const auto json = tool.args().maybe("json-query")) {
    return run_json_query(tool, *json);
  }
  BMAD_TRY_ASSIGN(Query query, query_from_words(tool.args()));
  BMAD_TRY(read_search_options(tool.args(), query));
  return search(tool, query);
}

constexpr Positional kQueryPositionals[] = {
    {.name = "TEXT", .help = "what to look for, in the language below", .min = 0, .max = 0}};

constexpr Option kQueryOptions[] = {
    kTypeFilter,
    kTagFilter,
    kWhereFilter,
    {.name = "topic", .value = "TOPIC", .help = "only entries of this topic", .repeatable = true},
    kAgentFilter,
    kSessionFilter,
    kSinceFilter,
    kUntilFilter,
    kAsOfFilter,
    kPinnedFilter,
    kNoSensitiveFilter,
    kArchivedFilter,
    kLimitFilter,
    kSortOption,
    kMinRelevanceOption,
    kWeightsOption,
    kCombineOption,
    kRankingOption,
    kContextOption,
    kExplainOption,
    kIdsOption,
    kTimeoutOption,
    {.name = "json-query",
     .value = "JSON|@FILE|-",
     .help =
         "the query as JSON (schemas/query.schema.json), from a file or from stdin, in place of "
         "TEXT and filters"},
};

constexpr Explained kLanguage[] = {
    {.what = "word other", .says = "the more of the words an entry holds, the better"},
    {.what = "\"a phrase\"", .says = "better as it stands; mind the shell's own quotes"},
    {.what = "+word, +\"a phrase\"", .says = "must be there"},
    {.what = "-word, -\"a phrase\"", .says = "must not be there"},
    {.what = "conn*", .says = "any word that begins so"},
    {.what = "postgers~", .says = "words that are spelt alike, too"},
    {.what = "a AND b, a AND NOT b, a OR b", .says = "the same in words, in capitals"},
    {.what = "type:decision", .says = "a filter; so are agent:, tag:, topic:, session:"},
    {.what = "status:open metadata.ticket:PAY-1", .says = "a filter on a field: {filter fields}"},
    {.what = "-tag:draft", .says = "a filter turned around"},
    {.what = "since:7d until:2026-01-31", .says = "a time range, with the times of --since"},
    {.what = "is:pinned", .says = "only pinned entries"},
    {.what = "archived:no", .says = "without archived sessions; archived:only for nothing else"},
    {.what = "\\-word \\\"", .says = "a backslash takes the meaning from a sign"},
    {.what = "-O2 *.tmp a - b",
     .says = "words: no question is refused; --explain says what was read so"},
};

constexpr Example kQueryExamples[] = {
    {.command = "bmad-mem query why postgres", .says = "the best 20 hits of all sessions"},
    {.command = "bmad-mem query '\"connection pool\" -hikari' --type finding --since 30d",
     .says = "a phrase, but not that word, among findings that are not too old"},
    {.command = "bmad-mem query pool status:open severity:critical",
     .says = "what is still open, by fields"},
    {.command = "bmad-mem query postgers~ type:decision --limit 3 --explain",
     .says = "a word that may be misspelt, and where the relevance comes from"},
    {.command = "bmad-mem query which database --as-of 2026-03-01",
     .says = "what would have been found at the end of that day"},
    {.command = "bmad-mem query what did we decide about the ledger --context 2",
     .says = "with the two messages before and after each hit"},
    {.command = "bmad-mem query deadlock --weights text=1,time=0,importance=0,access=0",
     .says = "by the text alone"},
    {.command = "bmad-mem --json query deadlock --limit 3", .says = "three hits for a program"},
    {.command = "bmad-mem query deadlock --ids | xargs bmad-mem get", .says = "the whole entries"},
    {.command = "bmad-mem --json query --json-query '{\"text\":\"pool\",\"types\":[\"finding\"]}'",
     .says = "asked by a program"},
};

}  // namespace

const Command kQuery = {
    .name = "query",
    .group = Group::kRead,
    .summary = "search the memory, best results first",
    .description =
        "Searches the text of all entries and shows the best hits first: relevance from 0 to 1, "
        "type, id, time (UTC) and age, who, and the part of the text that matched. Filters of "
        "different kinds must all hold.\n\n"
        "The relevance is how well the words fit, weighed by how fresh the entry is, what it is, "
        "and how lately it was used. --combine sum and --weights add these up instead. --explain "
        "shows the parts.\n\n"
        "With --json, each hit is the whole entry with \"relevance\", \"components\", "
        "\"snippet\" and its \"highlights\" (each the offset and the size in bytes); with "
        "--context \"context\" (\"before\" and \"after\"), with --explain \"explanation\", whose "
        "\"notes\" say how TEXT was read. A "
        "member of the entry itself that has one of these names goes behind the entry's type: an "
        "artifact's own snippet is \"artifact_snippet\".",
    .positionals = kQueryPositionals,
    .options = kQueryOptions,
    .glossary_title = "The language of TEXT:",
    .glossary = kLanguage,
    .examples = kQueryExamples,
    .exit_status =
        "0 done, also when nothing was found, 1 failed (the error's code is on stderr), "
        "2 wrong usage, 4 something could not be read (the rest is answered).",
    .run = run_query,
};

}  // namespace bmad_mem::cli
