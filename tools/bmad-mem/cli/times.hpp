// times.hpp - moments as people name them on the command line. All in UTC.
#pragma once

#include <string_view>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/query_time.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

/// The moment that `text` names for one who asks at `now`: QueryTime says what is understood.
/// Errors: E_INVALID_QUERY, naming `field` and showing what is understood.
Result<Timestamp> parse_time(std::string_view text, Timestamp now, RangeEnd end,
                             std::string_view field);

}  // namespace bmad_mem::cli
