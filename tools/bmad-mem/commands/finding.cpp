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
    if (error.field == "text") {
      return tool.report_in(error, query.text);
    }
    return error;
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

}  // namespace

Result<ExitStatus> run_similar(Tool& tool) {
  Query query;
  query.text_is_prose = true;
  BMAD_TRY_ASSIGN(query.filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY(read_search_options(tool.args(), query));
  BMAD_TRY_ASSIGN(query.text, read_prose(tool.args().positionals()));
  if (query.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return bad_value("text", "the text is empty; give one, or '-' to read it from stdin");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
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

struct Title {
  Relation relation;
  std::string_view text;
};

constexpr std::array<Title, 12> kTitles = {{{Relation::kSolves, "It solves:"},
                                            {Relation::kSolvedBy, "It is solved by:"},
                                            {Relation::kCauses, "It causes:"},
                                            {Relation::kCausedBy, "It is caused by:"},
                                            {Relation::kSupersedes, "It supersedes:"},
                                            {Relation::kSupersededBy, "It is superseded by:"},
                                            {Relation::kRefines, "It refines:"},
                                            {Relation::kRefinedBy, "It is refined by:"},
                                            {Relation::kReferences, "It refers to:"},
                                            {Relation::kReferencedBy, "It is referred to by:"},
                                            {Relation::kSameTopic, "Of the same topic:"},
                                            {Relation::kSimilar, "Reads alike:"}}};

void print_groups(Tool& tool, std::span<const RelatedEntry> related) {
  bool is_first = true;
  for (const Title& title : kTitles) {
    std::vector<Entry> entries;
    std::vector<std::string> heads;
    for (const RelatedEntry& each : related) {
      if (each.relation == title.relation && each.depth == 1) {
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
  std::vector<Entry> far;
  std::vector<std::string> heads;
  for (const RelatedEntry& each : related) {
    if (each.depth > 1) {
      far.push_back(each.entry);
      heads.push_back(
          fmt::format("  {}  {} {}  ", each.depth, each.via, relation_words(each.relation)));
    }
  }
  if (!far.empty()) {
    tool.out().print("{}{}\n", is_first ? "" : "\n",
                     tool.style().bold("Further away, by the number of links:"));
    print_entry_list(tool, far, heads);
  }
}

}  // namespace

Result<ExitStatus> run_related(Tool& tool) {
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(const std::size_t depth,
                  read_number(tool.args(), "depth", std::size_t{1}, "a number from 1 to 10",
                              std::size_t{1}, MemoryManager::kLinkDepthMax));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, whole_ids(memory, tool.args().positionals()));
  BMAD_TRY_ASSIGN(const std::vector<RelatedEntry> related,
                  memory.related(ids.front(), filter, depth));
  if (tool.json()) {
    for (const RelatedEntry& each : related) {
      const bool has_way = is_typed(each.relation);
      tool.out().print(
          "{}\n",
          entry_json_line(each.entry, json_members_of("relation", relation_name(each.relation),
                                                      "relevance", rounded(each.relevance), "depth",
                                                      only_if(has_way, each.depth), "via",
                                                      only_if(has_way, each.via))));
    }
    return ExitStatus::kDone;
  }
  print_groups(tool, related);
  if (related.empty()) {
    tool.note(fmt::format("no entries are linked to {}", ids.front()));
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_topics(Tool& tool) {
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<TopicCount> topics, memory.topics(filter));
  note_sealed(tool, memory, filter.sessions);
  show_all(tool, "topics", shape::topic, topics);
  return ExitStatus::kDone;
}

namespace {

/// A unit of time: how it is asked for, and how much of "2026-01-11 10:05" names one.
struct Unit {
  std::string_view name;
  TimelineUnit unit;
  std::size_t label_size;
};

constexpr std::array<Unit, 4> kUnits = {{{"hour", TimelineUnit::kHour, 16},
                                         {"day", TimelineUnit::kDay, 10},
                                         {"week", TimelineUnit::kWeek, 10},
                                         {"month", TimelineUnit::kMonth, 7}}};

/// A line for each bucket: when, how many, and a bar. The longest bar fills the terminal.
void print_bars(Tool& tool, const Unit& unit, const std::vector<TimelineBucket>& buckets) {
  static constexpr std::size_t kUsualWidth = 80;
  static constexpr std::size_t kBarWidthMin = 10;
  std::uint64_t most = 1;
  for (const TimelineBucket& bucket : buckets) {
    most = std::max(most, bucket.total());
  }
  const std::size_t count_width = format_count(most).size();
  const std::size_t before = unit.label_size + count_width + 4;
  const std::size_t terminal = tool.columns() == 0 ? kUsualWidth : tool.columns();
  const std::size_t bar_width = std::max(terminal, before + kBarWidthMin) - before;
  for (const TimelineBucket& bucket : buckets) {
    const std::uint64_t count = bucket.total();
    const double share = static_cast<double>(count) / static_cast<double>(most);
    tool.out().print("{}  {}  {}\n", format_minute(bucket.begin).substr(0, unit.label_size),
                     padded_left(format_count(count), count_width),
                     tool.style().green(block_bar(share, bar_width)));
  }
}

}  // namespace

Result<ExitStatus> run_timeline(Tool& tool) {
  const std::string_view name = tool.args().maybe("by").value_or("day");
  const auto* const unit =
      std::ranges::find_if(kUnits, [&](const Unit& each) { return each.name == name; });
  if (unit == kUnits.end()) {
    return bad_value("by", fmt::format("'{}' is not a unit; write hour, day, week or month", name));
  }
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<TimelineBucket> buckets, memory.timeline(filter, unit->unit));
  note_sealed(tool, memory, filter.sessions);
  if (tool.json()) {
    print_objects(tool, shape::bucket, buckets);
    return ExitStatus::kDone;
  }
  print_bars(tool, *unit, buckets);
  if (buckets.empty()) {
    tool.note("there is no such entry");
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
