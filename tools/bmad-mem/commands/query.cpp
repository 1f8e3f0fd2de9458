// query - ranked search.
#include <charconv>
#include <optional>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "entry_view.hpp"
#include "filters.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 3> kSortNames = {"relevance_desc", "time_desc", "time_asc"};
constexpr std::array<SortOrder, 3> kSortOrders = {SortOrder::kRelevanceDesc, SortOrder::kTimeDesc,
                                                  SortOrder::kTimeAsc};

Error bad_value(std::string_view option, std::string message) {
  return {.code = ErrorCode::E_INVALID_QUERY,
          .message = std::move(message),
          .field = std::string(option)};
}

Result<SortOrder> read_sort(std::string_view text) {
  for (std::size_t i = 0; i < kSortNames.size(); ++i) {
    // "relevance" and "time" do as well.
    if (text == kSortNames[i] ||
        (i < 2 && kSortNames[i].starts_with(text) && text.size() + 5 == kSortNames[i].size())) {
      return kSortOrders[i];
    }
  }
  return bad_value("sort", fmt::format("'{}' is no order; write relevance_desc, time_desc or "
                                       "time_asc",
                                       text));
}

Result<double> read_relevance(std::string_view text) {
  double number = -1;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || stop != text.data() + text.size() ||
      !(number >= 0 && number <= 1)) {
    return bad_value("min-relevance", fmt::format("'{}' is no number from 0 to 1", text));
  }
  return number;
}

Result<Query> read_query(const Arguments& args) {
  Query query;
  for (const std::string& word : args.positionals()) {
    query.text += query.text.empty() ? "" : " ";
    query.text += word;
  }
  BMAD_TRY_ASSIGN(query.filter, read_filter(args, system_clock().now()));
  if (const auto text = args.maybe("sort")) {
    BMAD_TRY_ASSIGN(query.sort, read_sort(*text));
  }
  if (const auto text = args.maybe("min-relevance")) {
    BMAD_TRY_ASSIGN(query.min_relevance, read_relevance(*text));
  }
  return query;
}

/// {"relevance":0.83,"match":{"snippet":"…","highlights":[[4,10]]}} without the outer braces.
///
/// The snippet is kept apart under "match", because an artifact has a field "snippet" of its own.
std::string hit_members(const Hit& hit) {
  JsonWriter json;
  json.begin_object().member("snippet", hit.snippet).key("highlights").begin_array();
  for (const Highlight& highlight : hit.highlights) {
    json.begin_array();
    json.integer(static_cast<std::int64_t>(highlight.offset));
    json.integer(static_cast<std::int64_t>(highlight.size));
    json.end_array();
  }
  json.end_array().end_object();
  return fmt::format(R"("relevance":{:.4f},"match":{})", hit.relevance, json.text());
}

/// The highlights, with those joined that only a sign stands between: "E_LOCK" is marked as one.
std::vector<Highlight> joined_highlights(const Hit& hit) {
  std::vector<Highlight> joined;
  for (const Highlight& highlight : hit.highlights) {
    if (!joined.empty()) {
      Highlight& last = joined.back();
      const std::size_t end = last.offset + last.size;
      if (highlight.offset == end + 1 &&
          std::string_view("_-./:").find(hit.snippet[end]) != std::string_view::npos) {
        last.size = highlight.offset + highlight.size - last.offset;
        continue;
      }
    }
    joined.push_back(highlight);
  }
  return joined;
}

/// The snippet with what matched marked: in colour, or between asterisks.
std::string marked(const Hit& hit, const Style& style) {
  const std::string_view text = hit.snippet;
  std::string out;
  std::size_t at = 0;
  for (const Highlight& highlight : joined_highlights(hit)) {
    out += printable(text.substr(at, highlight.offset - at));
    const std::string word = printable(text.substr(highlight.offset, highlight.size));
    out += style.colours() ? style.match(word) : fmt::format("*{}*", word);
    at = highlight.offset + highlight.size;
  }
  return out + printable(text.substr(at));
}

void print_hit(Tool& tool, const Hit& hit) {
  const Entry& entry = hit.entry;
  const Style& style = tool.style();
  tool.out().print("{:.2f}  {}  {}  {}{}{}{}\n", hit.relevance, style.id(entry.id),
                   style.faint(format_minute(entry.timestamp)), entry_type_name(entry.type),
                   entry.who.empty() ? "" : " by ", printable(entry.who),
                   entry.pinned ? ", pinned" : "");
  tool.out().print("      {}\n", marked(hit, style));
}

Result<ExitStatus> run(Tool& tool) {
  BMAD_TRY_ASSIGN(const Query query, read_query(tool.args()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<Hit> hits, memory.query(query));
  for (const Hit& hit : hits) {
    if (tool.json()) {
      tool.out().print("{}\n", entry_json_line(hit.entry, hit_members(hit)));
    } else {
      print_hit(tool, hit);
    }
  }
  if (hits.empty()) {
    tool.note(fmt::format("nothing found for '{}'", query.text));
  }
  return ExitStatus::kDone;
}

constexpr Positional kPositionals[] = {
    {.name = "TEXT", .help = "what to look for, in words", .max = 0}};

constexpr Option kOptions[] = {
    kTypeFilter,
    kTagFilter,
    kAgentFilter,
    kSessionFilter,
    kSinceFilter,
    kUntilFilter,
    kPinnedFilter,
    kLimitFilter,
    {.name = "sort",
     .value = "ORDER",
     .help = "the order",
     .fallback = "relevance_desc",
     .completion = Completion::kChoice,
     .choices = kSortNames},
    {.name = "min-relevance", .value = "X", .help = "only hits of at least X, from 0 to 1"},
};

constexpr Example kExamples[] = {
    {.command = "bmad-mem query why postgres", .says = "the best 20 hits of all sessions"},
    {.command = "bmad-mem query \"connection pool\" --type finding --type decision --since 30d",
     .says = "among some types, and not too old"},
    {.command = "bmad-mem --json query deadlock --limit 3", .says = "three hits for a program"},
};

}  // namespace

const Command kQuery = {
    .name = "query",
    .group = Group::kRead,
    .summary = "search, best first",
    .description =
        "Searches the text of all entries and shows the best hits first: relevance from 0 to 1, "
        "id, time (UTC), type, who, and the part of the text that matched. Filters of different "
        "kinds must all hold.\n\n"
        "With --json, \"match\" holds the snippet and its highlights, each the offset and the size "
        "in bytes.",
    .positionals = kPositionals,
    .options = kOptions,
    .examples = kExamples,
    .exit_status =
        "0 done, also when nothing was found, 1 failed (the error's code is on stderr), "
        "2 wrong usage.",
    .run = run,
};

}  // namespace bmad_mem::cli
