// finding.cpp - commands that answer from the index.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/entry_options.hpp"
#include "cli/filters.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/view_text.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

namespace {

/// What a query in JSON says itself.
constexpr std::array<std::string_view, 14> kSaidInJson = {
    "type",  "tag",    "where", "topic",  "agent", "session",       "since",
    "until", "pinned", "limit", "offset", "sort",  "min-relevance", "weights"};

Result<Query> query_from_words(const Arguments& args) {
  Query query;
  for (const std::string& topic : args.all("topic")) {
    if (topic.empty()) {
      return bad_value("topic", "the name of the topic is empty; `bmad-mem topics` lists them");
    }
    query.topics.push_back(topic);
  }
  query.text = joined(args.positionals(), " ");
  BMAD_TRY_ASSIGN(query.filter, read_filter(args, system_clock().now()));
  return query;
}

/// The text of --json-query, and what messages call it; empty for the argument itself.
struct JsonSource {
  std::string text;
  std::string name = {};
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
  return JsonSource{.text = std::string(argument)};
}

Result<ExitStatus> print_hits(Tool& tool, const Query& query) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const Result<QueryAnswer> answer = memory.ask(query);
  if (!answer) {
    const Error& error = answer.error();
    return error.field == "text" ? tool.report_in(error, query.text) : Result<ExitStatus>(error);
  }
  print_answer(tool, query, *answer);
  if (tool.json()) {
    print_closed_as_json(tool, memory.closed_entries(query.filter));
  }
  if (answer->hits.empty()) {
    note_nothing_found(tool, memory, query.filter,
                       query.text.empty()
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
  BMAD_TRY_ASSIGN(const JsonSource source, read_json_source(argument));
  const Timestamp now = system_clock().now();
  BMAD_TRY_ASSIGN(const std::optional<Timestamp> as_of, read_time(args, "as-of", now));
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
  return print_hits(tool, *query);
}

}  // namespace

Result<ExitStatus> run_query(Tool& tool) {
  if (const auto json = tool.args().maybe("json-query")) {
    return run_json_query(tool, *json);
  }
  BMAD_TRY_ASSIGN(Query query, query_from_words(tool.args()));
  BMAD_TRY(read_search_options(tool.args(), query));
  return print_hits(tool, query);
}

Result<ExitStatus> run_similar(Tool& tool, MemoryManager& memory) {
  Query query;
  query.text_is_prose = true;
  BMAD_TRY_ASSIGN(query.filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY(read_search_options(tool.args(), query));
  BMAD_TRY_ASSIGN(query.text, text_or_stdin(joined(tool.args().positionals(), " ")));
  if (query.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return bad_value("text", "the text is empty; give one, or '-' to read it from stdin");
  }
  const Result<std::vector<Hit>> hits = memory.query(query);
  if (!hits) {
    return tool.report_in(hits.error(), query.text);
  }
  print_answer(tool, query, {.hits = *hits});
  if (hits->empty()) {
    tool.note("no similar entries found");
  }
  return ExitStatus::kDone;
}

namespace {

/// The entries that `belongs` says, under their title; each begins with `head` of it.
void add_group(std::vector<RawJson>& groups, std::string_view title,
               std::span<const RelatedEntry> related, const auto& belongs, const auto& head) {
  const auto all = mapped_if(related, belongs, [&](const RelatedEntry& each) {
    return raw_object("head", head(each), "entry", shown_entry(each.entry));
  });
  if (!all.empty()) {
    groups.push_back(raw_object("is_first", groups.empty(), "title", title, "all", all));
  }
}

std::vector<RawJson> groups_of(std::span<const RelatedEntry> related) {
  std::vector<RawJson> groups;
  constexpr auto kTypedFrom = static_cast<std::size_t>(Relation::kSolves);
  constexpr auto kRelations = static_cast<std::size_t>(Relation::kRefinedBy) + 1;
  for (std::size_t i = 0; i < kRelations; ++i) {  // Typed links first.
    const auto relation = static_cast<Relation>((i + kTypedFrom) % kRelations);
    const auto belongs = [&](const RelatedEntry& each) {
      return each.relation == relation && each.depth == 1;
    };
    add_group(groups, view_named(fmt::format("related_title.{}", relation_name(relation))), related,
              belongs,
              [](const RelatedEntry& each) { return fmt::format("  {:.2f}  ", each.relevance); });
  }
  const auto is_far = [](const RelatedEntry& each) { return each.depth > 1; };
  add_group(groups, "Further away, by the number of links:", related, is_far,
            [](const RelatedEntry& each) {
              return fmt::format("  {}  {} {}  ", each.depth, each.via,
                                 relation_words(each.relation));
            });
  return groups;
}

}  // namespace

Result<ExitStatus> run_related(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(const std::size_t depth,
                  read_number(tool.args(), "depth", std::size_t{1}, "a number from 1 to 10",
                              std::size_t{1}, MemoryManager::kLinkDepthMax));
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, whole_ids(memory, tool.args().positionals()));
  BMAD_TRY_ASSIGN(const std::vector<RelatedEntry> related,
                  memory.related(ids.front(), filter, depth));
  for (const RelatedEntry& each : tool.json() ? related : std::vector<RelatedEntry>()) {
    const bool has_way = is_typed(each.relation);
    print_entry_line(tool, each.entry, "relation", relation_name(each.relation), "relevance",
                     rounded(each.relevance), "depth", only_if(has_way, each.depth), "via",
                     only_if(has_way, each.via));
  }
  return describe(tool, "related", "groups", groups_of(related), "id", ids.front());
}

Result<ExitStatus> run_topics(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(const std::vector<TopicCount> topics, memory.topics(filter));
  note_encrypted(tool, memory, filter.sessions);
  return show_all(tool, "topics", shape::topic, topics);
}

namespace {

/// How much of "2026-01-11 10:05" names a period, by TimelineUnit.
constexpr std::array<std::size_t, 4> kLabelSizes = {16, 10, 10, 7};

/// A line for each bucket: when, how many, and a bar. The longest bar fills the terminal.
std::vector<RawJson> bars_of(const Tool& tool, std::size_t label_size,
                             const std::vector<TimelineBucket>& buckets) {
  static constexpr std::size_t kUsualWidth = 80;
  static constexpr std::size_t kBarWidthMin = 10;
  std::uint64_t most = 1;
  for (const TimelineBucket& bucket : buckets) {
    most = std::max(most, bucket.total());
  }
  const std::size_t before = label_size + format_count(most).size() + 4;
  const std::size_t terminal = tool.columns() == 0 ? kUsualWidth : tool.columns();
  const std::size_t bar_width = std::max(terminal, before + kBarWidthMin) - before;
  return mapped(buckets, [&](const TimelineBucket& bucket) {
    const double share = static_cast<double>(bucket.total()) / static_cast<double>(most);
    return raw_object("at", format_minute(bucket.begin).substr(0, label_size), "count",
                      bucket.total(), "bar", block_bar(share, bar_width));
  });
}

}  // namespace

Result<ExitStatus> run_timeline(Tool& tool, MemoryManager& memory) {
  const std::string_view name = tool.args().maybe("by").value_or("day");
  const auto* const known = std::ranges::find(kTimelineUnits, name);
  if (known == kTimelineUnits.end()) {
    return bad_value("by", "'{}' is not a unit; write hour, day, week or month", name);
  }
  const auto unit = static_cast<std::size_t>(known - kTimelineUnits.begin());
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(const std::vector<TimelineBucket> buckets,
                  memory.timeline(filter, static_cast<TimelineUnit>(unit)));
  note_encrypted(tool, memory, filter.sessions);
  return show_all(tool, "timeline", shape::bucket, buckets,
                  bars_of(tool, kLabelSizes.at(unit), buckets));
}

}  // namespace bmad_mem::cli
