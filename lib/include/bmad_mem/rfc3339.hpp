// rfc3339.hpp - times as they stand in entries: "2026-01-11T10:05:23Z".
//
// Reads every RFC 3339 date-time: upper or lower case 'T' and 'Z', fractions of any length (cut to
// milliseconds), offsets, the leap second. Writes UTC with 'Z', and milliseconds only when there
// are some, so that what a person typed and what we wrote look alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// The moment that `text` names, or nothing when it isn't an RFC 3339 date-time. No allocation:
/// this runs once for each line of a scan.
std::optional<Timestamp> try_parse_rfc3339(std::string_view text);

/// As try_parse_rfc3339. Errors: E_INVALID_FORMAT, naming the text and showing a good one.
Result<Timestamp> parse_rfc3339(std::string_view text);

/// UTC, "2026-01-11T10:05:23Z", or "2026-01-11T10:05:23.250Z" when there are milliseconds.
/// Years before 0 or after 9999 are written as the nearest of them.
std::string format_rfc3339(Timestamp time);

/// The UTC day of `time`: "2026-01-11".
std::string format_date(Timestamp time);

/// How long before `now` that was: "just now", "5 minutes ago", "3 days ago"; "in 2 hours" for what
/// lies ahead.
std::string format_age(Timestamp time, Timestamp now);

}  // namespace bmad_mem
