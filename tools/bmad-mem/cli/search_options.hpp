// search_options.hpp - the options by which `query` and `similar` rank and show, beside
// filters.hpp.
#pragma once

#include <array>
#include <string_view>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"

namespace bmad_mem::cli {

inline constexpr std::array<std::string_view, 3> kSortNames = {"relevance_desc", "time_desc",
                                                               "time_asc"};

/// What the options above say, into `query`; what is not given stays as it is.
/// Errors: E_INVALID_QUERY with the option as field.
Status read_search_options(const Arguments& args, Query& query);

}  // namespace bmad_mem::cli
