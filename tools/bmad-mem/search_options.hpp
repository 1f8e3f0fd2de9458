// search_options.hpp - the options by which `query` and `similar` rank and show, beside
// filters.hpp.
#pragma once

#include <array>
#include <string_view>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "command.hpp"
#include "options.hpp"

namespace bmad_mem::cli {

inline constexpr std::array<std::string_view, 3> kSortNames = {"relevance_desc", "time_desc",
                                                               "time_asc"};
inline constexpr std::array<std::string_view, 2> kRankingNames = {"context", "plain"};

inline constexpr Option kSortOption = {.name = "sort",
                                       .value = "ORDER",
                                       .help = "the order",
                                       .fallback = "relevance_desc",
                                       .completion = Completion::kChoice,
                                       .choices = kSortNames};
inline constexpr Option kMinRelevanceOption = {
    .name = "min-relevance", .value = "X", .help = "only hits of at least X, from 0 to 1"};
inline constexpr std::array<std::string_view, 2> kCombineNames = {"factors", "sum"};
inline constexpr Option kCombineOption = {
    .name = "combine",
    .value = "HOW",
    .help = "let time, importance and access weigh the text, or add them to it",
    .fallback = "factors; sum with --weights",
    .completion = Completion::kChoice,
    .choices = kCombineNames};
inline constexpr Option kWeightsOption = {
    .name = "weights",
    .value = "NAME=X,...",
    .help =
        "what each component counts in the sum, from 0 to 1; what is not named keeps "
        "text=0.4,time=0.3,importance=0.2,access=0.1",
    .fallback = "those of config.json, else these"};
inline constexpr Option kRankingOption = {
    .name = "ranking",
    .value = "HOW",
    .help = "whether the text around an entry counts, too, or its words alone",
    .fallback = "context",
    .completion = Completion::kChoice,
    .choices = kRankingNames};
inline constexpr Option kContextOption = {
    .name = "context",
    .value = "N",
    .help = "show the N entries before and after each hit in its conversation",
    .fallback = "0"};
inline constexpr Option kExplainOption = {.name = "explain",
                                          .help = "show where each relevance comes from"};
inline constexpr Option kIdsOption = {.name = "ids", .help = "print only the ids, a line each"};
inline constexpr Option kTimeoutOption = {.name = "timeout",
                                          .value = "MS",
                                          .help = "give up after so many milliseconds; 0: never",
                                          .fallback = "0"};

/// What the options above say, into `query`; what is not given stays as it is.
/// Errors: E_INVALID_QUERY with the option as field.
Status read_search_options(const Arguments& args, Query& query);

}  // namespace bmad_mem::cli
