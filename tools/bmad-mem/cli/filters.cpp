// filters.cpp - reads the options that choose, search and delete entries.
#include "cli/filters.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/query.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/views.hpp"

namespace bmad_mem::cli {
Result<Page> read_page(const Arguments& args, std::size_t limit) {
  constexpr std::size_t kMost = 1'000'000'000;  // So that their sum is a number, too.
  Page page;
  BMAD_TRY_ASSIGN(page.limit,
                  read_number(args, "limit", limit, "a number of entries; write 0 for all",
                              std::size_t{0}, kMost));
  BMAD_TRY_ASSIGN(page.offset, read_number(args, "offset", std::size_t{0},
                                           "a number of entries to skip", std::size_t{0}, kMost));
  return page;
}

ArchivedSessions archived_choice(std::string_view text) {
  if (text == "no") {
    return ArchivedSessions::kWithout;
  }
  return text == "only" ? ArchivedSessions::kOnly : ArchivedSessions::kWith;
}

Result<std::optional<Timestamp>> read_time(const Arguments& args, std::string_view name,
                                           Timestamp now) {
  const auto text = args.maybe(name);
  if (!text) {
    return std::optional<Timestamp>();
  }
  const RangeEnd end = name == "since" ? RangeEnd::kSince : RangeEnd::kUntil;
  BMAD_TRY_ASSIGN(const Timestamp time, parse_time(*text, now, end, name));
  return std::optional(time);
}

Result<EntryFilter> read_filter(const Arguments& args, Timestamp now) {
  EntryFilter filter;
  filter.sessions = args.all("session");
  filter.tags = args.all("tag");
  filter.agents = args.all("agent");
  filter.pinned_only = args.has("pinned");
  filter.without_sensitive = args.has("no-sensitive");
  filter.archived = archived_choice(args.value("archived"));
  for (const std::string& name : args.all("type")) {
    Result<EntryType> type = parse_entry_type(name);
    if (!type) {
      Error error = std::move(type).error();
      error.code = ErrorCode::E_INVALID_QUERY;
      return error;
    }
    filter.types.push_back(*type);
  }
  for (const std::string& text : args.all("where")) {
    Result<FieldFilter> field = parse_field_filter(text);
    if (!field) {
      Error error = std::move(field).error();
      error.field = "where";
      return error;
    }
    filter.fields.push_back(*std::move(field));
  }
  BMAD_TRY_ASSIGN(filter.as_of, read_time(args, "as-of", now));
  now = filter.as_of.value_or(now);
  BMAD_TRY_ASSIGN(filter.since, read_time(args, "since", now));
  BMAD_TRY_ASSIGN(filter.until, read_time(args, "until", now));
  if (filter.since && filter.until && *filter.until < *filter.since) {
    return bad_value("until", "the range ends ({}) before it begins ({})",
                     format_rfc3339(*filter.until), format_rfc3339(*filter.since));
  }
  BMAD_TRY_ASSIGN(const Page page, read_page(args, filter.limit));
  filter.limit = page.limit;
  filter.offset = page.offset;
  return filter;
}

namespace {

constexpr std::pair<std::string_view, SortOrder> kSorts[] = {
    {"relevance_desc", SortOrder::kRelevanceDesc},
    {"time_desc", SortOrder::kTimeDesc},
    {"time_asc", SortOrder::kTimeAsc}};

struct WeightName {
  std::string_view name;
  double RelevanceWeights::* weight;
};
constexpr std::array<WeightName, 4> kWeights = {{{"text", &RelevanceWeights::text},
                                                 {"time", &RelevanceWeights::time},
                                                 {"importance", &RelevanceWeights::importance},
                                                 {"access", &RelevanceWeights::access}}};

/// A number from 0 to 1.
std::optional<double> share_in(std::string_view text) {
  const std::optional<double> number = real_in(text);
  return number && *number >= 0 && *number <= 1 ? number : std::nullopt;
}

Result<SortOrder> read_sort(std::string_view text) {
  for (const auto& [name, order] : kSorts) {
    // "relevance" and "time" do as well.
    if (text == name || fmt::format("{}_desc", text) == name) {
      return order;
    }
  }
  return bad_value("sort", "'{}' is not an order; write relevance_desc, time_desc or time_asc",
                   text);
}

/// One "name=number" of the weights. `seen` are the names so far.
Status read_weight(std::string_view part, RelevanceWeights& weights,
                   std::vector<std::string_view>& seen) {
  const std::size_t equals = part.find('=');
  const std::string_view name = part.substr(0, equals);
  const auto* const known = std::ranges::find(kWeights, name, &WeightName::name);
  if (equals == std::string_view::npos || known == kWeights.end()) {
    const std::string_view near = nearest_word(name, kWeights, &WeightName::name);
    return bad_value(
        "weights",
        "'{}' is no weight; write text=0.4,time=0.3,importance=0.2,access=0.1 or some of these{}",
        part,
        near.empty() || near == name ? std::string() : fmt::format("; did you mean {}?", near));
  }
  if (std::ranges::find(seen, name) != seen.end()) {
    return bad_value("weights", "{} is given twice", name);
  }
  seen.push_back(name);
  const std::optional<double> number = share_in(part.substr(equals + 1));
  if (!number) {
    return bad_value("weights", "'{}' is not a number from 0 to 1 for {}", part.substr(equals + 1),
                     name);
  }
  weights.*(known->weight) = *number;
  return {};
}

Result<RelevanceWeights> read_weights(std::string_view text) {
  RelevanceWeights weights;
  std::vector<std::string_view> seen;
  while (true) {
    const std::size_t comma = text.find(',');
    BMAD_TRY(read_weight(text.substr(0, comma), weights, seen));
    if (comma == std::string_view::npos) {
      break;
    }
    text.remove_prefix(comma + 1);
  }
  if (std::ranges::all_of(kWeights,
                          [&](const WeightName& each) { return weights.*(each.weight) <= 0; })) {
    return bad_value("weights", "all weights are 0; give at least one of them more than 0");
  }
  return weights;
}

/// Where the memories of --also are: each name a folder, or several with commas between.
Result<std::vector<std::string>> read_also(const Arguments& args) {
  std::vector<std::string> roots;
  for (const std::string_view value : args.all("also")) {
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      const std::string_view folder = value.substr(begin, end - begin);
      if (folder.empty()) {
        return bad_value("also", "the name of a folder is empty; write --also DIR or DIR,DIR");
      }
      BMAD_TRY_ASSIGN(std::string root, MemoryManager::find_root(folder, {}, working_directory()));
      roots.push_back(std::move(root));
      begin = end + 1;
    }
  }
  return roots;
}

}  // namespace

Status read_search_options(const Arguments& args, Query& query) {
  if (const auto text = args.maybe("sort")) {
    BMAD_TRY_ASSIGN(query.sort, read_sort(*text));
  }
  BMAD_TRY_ASSIGN(query.min_relevance, read_number(args, "min-relevance", query.min_relevance,
                                                   "a number from 0 to 1", 0.0, 1.0));
  if (const auto text = args.maybe("weights")) {
    BMAD_TRY_ASSIGN(query.weights, read_weights(*text));
  }
  if (const auto text = args.maybe("combine")) {
    query.combine = try_parse_relevance_combine(*text);
    if (!query.combine) {
      return bad_value("combine", "'{}' is not known; write factors or sum", *text);
    }
  }
  if (const auto text = args.maybe("ranking")) {
    if (*text != "context" && *text != "plain") {
      return bad_value("ranking", "'{}' is not a ranking; write context or plain", *text);
    }
    query.ranking = *text == "plain" ? TextRanking::kPlain : TextRanking::kContext;
  }
  static constexpr std::string_view kCount = "a whole number from 0 on";
  BMAD_TRY_ASSIGN(query.context,
                  read_number(args, "context", static_cast<std::uint32_t>(query.context), kCount));
  if (args.has("timeout")) {
    BMAD_TRY_ASSIGN(const auto milliseconds,
                    read_number<std::uint32_t>(args, "timeout", 0, kCount));
    query.timeout = std::chrono::milliseconds(milliseconds);
  }
  query.explain = args.has("explain");
  query.use_encoder = !args.has("no-encoder");
  BMAD_TRY_ASSIGN(query.also_roots, read_also(args));
  query.ids_only = args.has("ids");
  if (query.ids_only && (query.explain || query.context > 0)) {
    return bad_value("ids", "it leaves out what --context and --explain show; give one of them");
  }
  return {};
}

namespace {

bool removes_nothing(const DeletionReport& report) {
  return report.entries == 0 && report.elsewhere.empty();
}

/// The ids that were asked for and are in no log. A purge that reached other files doesn't say
/// which ids those held.
std::vector<std::string> unknown_ids(const DeletionCriteria& criteria,
                                     const DeletionReport& report) {
  const auto is_unknown = [&](const std::string& id) {
    return report.elsewhere.empty() && find_by(report.removed, id, &RemovedEntry::id) == nullptr;
  };
  return mapped_if(criteria.ids, is_unknown, std::identity());
}

/// What a person is asked; empty when nothing would go.
Result<std::string> question_for(MemoryManager& memory, const DeletionCriteria& criteria,
                                 const DeleteOptions& options) {
  BMAD_TRY_ASSIGN(const DeletionReport preview,
                  memory.delete_entries(criteria, {.dry_run = true, .purge = options.purge}));
  if (removes_nothing(preview)) {
    return std::string();
  }
  return fmt::format("{} {}{}?", options.purge ? "purge" : "delete",
                     format_count(preview.entries, "entry", "entries"),
                     options.purge ? ", permanently and everywhere" : "");
}

}  // namespace

ExitStatus report_unknown(Tool& tool, const MemoryManager& memory,
                          std::span<const std::string> ids) {
  for (const std::string& id : ids) {
    tool.report(memory.no_entry(id));
  }
  return ids.empty() ? ExitStatus::kDone : ExitStatus::kNothingFound;
}

Result<std::string> read_match(const Arguments& args) {
  const auto text = args.maybe("match");
  if (text && text->empty()) {
    return bad_value("match", "the text to look for is empty, so that everything would match");
  }
  return std::string(text.value_or(""));
}

Result<ExitStatus> delete_and_tell(Tool& tool, MemoryManager& memory,
                                   const DeletionCriteria& criteria, const DeleteOptions& options) {
  if (!options.dry_run && is_asked(tool)) {
    BMAD_TRY_ASSIGN(const std::string question, question_for(memory, criteria, options));
    if (!question.empty() && !is_confirmed(tool, question)) {
      return ExitStatus::kFailed;
    }
  }
  const auto remove = [&](const MemoryManager::Progress& show) {
    DeleteOptions telling = options;
    telling.on_progress = show;
    return memory.delete_entries(criteria, telling);
  };
  BMAD_TRY_ASSIGN(const DeletionReport report,
                  with_progress(tool, options.purge ? "purge" : "delete", remove, "sessions"));
  const std::vector<std::string> unknown = unknown_ids(criteria, report);
  if (tool.json() || !removes_nothing(report)) {
    print_deletion(tool, report, options);
  } else if (unknown.empty()) {
    tool.note("there is no such entry");
  }
  if (!criteria.match.empty() || !criteria.tags.empty() || !criteria.agents.empty()) {
    const EntryFilter looked_into{.sessions = criteria.sessions, .types = criteria.types};
    describe(tool, "not_looked_into", "closed", memory.closed_entries(looked_into).value_or(0));
  }
  return report_unknown(tool, memory, unknown);
}

}  // namespace bmad_mem::cli
