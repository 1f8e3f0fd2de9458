// times.hpp - moments as people name them on the command line. All in UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

/// Which end of a range a moment is meant for. A day is its first millisecond as a beginning and
/// its last as an end; so is a minute.
enum class RangeEnd : std::uint8_t { kSince, kUntil };

/// The moment that `text` names, or nothing when it names none:
///   2026-01-11T10:05:23Z, 2026-01-11T12:05:23+02:00   RFC 3339
///   2026-01-11, 2026-01-11 10:05                      a day, a minute
///   90s, 45m, 24h, 7d, 2w                             so long before `now`
///   now, today, yesterday
std::optional<Timestamp> try_parse_time(std::string_view text, Timestamp now, RangeEnd end);

/// As try_parse_time. Errors: E_INVALID_QUERY, naming `field` and showing what is understood.
Result<Timestamp> parse_time(std::string_view text, Timestamp now, RangeEnd end,
                             std::string_view field);

}  // namespace bmad_mem::cli
