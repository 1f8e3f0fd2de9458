#include "cli/search_options.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "cli/nearest.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<SortOrder, 3> kSortOrders = {SortOrder::kRelevanceDesc, SortOrder::kTimeDesc,
                                                  SortOrder::kTimeAsc};

struct WeightName {
  std::string_view name;
  double RelevanceWeights::* weight;
};
constexpr std::array<WeightName, 4> kWeights = {{{"text", &RelevanceWeights::text},
                                                 {"time", &RelevanceWeights::time},
                                                 {"importance", &RelevanceWeights::importance},
                                                 {"access", &RelevanceWeights::access}}};

Error bad_value(std::string_view option, std::string message) {
  return {.code = ErrorCode::E_INVALID_QUERY,
          .message = std::move(message),
          .field = std::string(option)};
}

/// The whole of `text` as a number.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = problem == std::errc() && stop == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

/// A number from 0 to 1.
std::optional<double> share_in(std::string_view text) {
  const std::optional<double> number = number_in<double>(text);
  return number && *number >= 0 && *number <= 1 ? number : std::nullopt;
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

/// One "name=number" of the weights. `seen` are the names so far.
Status read_weight(std::string_view part, RelevanceWeights& weights,
                   std::vector<std::string_view>& seen) {
  const std::size_t equals = part.find('=');
  const std::string_view name = part.substr(0, equals);
  const auto* const known =
      std::ranges::find_if(kWeights, [&](const WeightName& each) { return each.name == name; });
  if (equals == std::string_view::npos || known == kWeights.end()) {
    static constexpr std::array<std::string_view, 4> kNames = {"text", "time", "importance",
                                                               "access"};
    const std::string_view near = nearest_word(name, kNames);
    return bad_value(
        "weights",
        fmt::format("'{}' is no weight; write text=0.4,time=0.3,importance=0.2,"
                    "access=0.1 or some of these{}",
                    part,
                    near.empty() || near == name ? std::string()
                                                 : fmt::format("; did you mean {}?", near)));
  }
  if (std::ranges::find(seen, name) != seen.end()) {
    return bad_value("weights", fmt::format("{} is given twice", name));
  }
  seen.push_back(name);
  const std::optional<double> number = share_in(part.substr(equals + 1));
  if (!number) {
    return bad_value("weights", fmt::format("'{}' is no number from 0 to 1 for {}",
                                            part.substr(equals + 1), name));
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
    return bad_value("weights",
                     "all weights are 0, so that nothing would rank; give one of them more");
  }
  return weights;
}

Result<TextRanking> read_ranking(std::string_view text) {
  if (text == "context") {
    return TextRanking::kContext;
  }
  if (text == "plain") {
    return TextRanking::kPlain;
  }
  return bad_value("ranking", fmt::format("'{}' is no ranking; write context or plain", text));
}

/// A count, as of milliseconds: 4 billion at most.
Result<std::uint32_t> read_count(std::string_view option, std::string_view text) {
  if (const auto count = number_in<std::uint32_t>(text)) {
    return *count;
  }
  return bad_value(option, fmt::format("'{}' is no whole number from 0 on", text));
}

}  // namespace

Status read_search_options(const Arguments& args, Query& query) {
  if (const auto text = args.maybe("sort")) {
    BMAD_TRY_ASSIGN(query.sort, read_sort(*text));
  }
  if (const auto text = args.maybe("min-relevance")) {
    const std::optional<double> share = share_in(*text);
    if (!share) {
      return bad_value("min-relevance", fmt::format("'{}' is no number from 0 to 1", *text));
    }
    query.min_relevance = *share;
  }
  if (const auto text = args.maybe("weights")) {
    BMAD_TRY_ASSIGN(query.weights, read_weights(*text));
  }
  if (const auto text = args.maybe("combine")) {
    query.combine = try_parse_relevance_combine(*text);
    if (!query.combine) {
      return bad_value("combine", fmt::format("'{}' is not known; write factors or sum", *text));
    }
  }
  if (const auto text = args.maybe("ranking")) {
    BMAD_TRY_ASSIGN(query.ranking, read_ranking(*text));
  }
  if (const auto text = args.maybe("context")) {
    BMAD_TRY_ASSIGN(query.context, read_count("context", *text));
  }
  if (const auto text = args.maybe("timeout")) {
    BMAD_TRY_ASSIGN(const std::uint32_t milliseconds, read_count("timeout", *text));
    query.timeout = std::chrono::milliseconds(milliseconds);
  }
  query.explain = args.has("explain");
  query.ids_only = args.has("ids");
  if (query.ids_only && (query.explain || query.context > 0)) {
    return bad_value("ids", "it leaves out what --context and --explain show; give one of them");
  }
  return {};
}

}  // namespace bmad_mem::cli
