#include "times.hpp"

#include <charconv>
#include <chrono>
#include <string>

#include <fmt/core.h>

#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem::cli {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::minutes;

/// The beginning, or the last millisecond, of what begins at `start` and lasts `size`.
Timestamp end_of(Timestamp start, milliseconds size, RangeEnd end) {
  return end == RangeEnd::kSince ? start : start + size - milliseconds(1);
}

std::optional<milliseconds> unit_of(char letter) {
  switch (letter) {
    case 's':
      return std::chrono::seconds(1);
    case 'm':
      return minutes(1);
    case 'h':
      return std::chrono::hours(1);
    case 'd':
      return days(1);
    case 'w':
      return std::chrono::weeks(1);
    default:
      return std::nullopt;
  }
}

/// "7d": so long before `now`.
std::optional<Timestamp> time_ago(std::string_view text, Timestamp now) {
  static constexpr std::uint32_t kCountMax = 100'000;  // 1900 years in weeks: no overflow.
  if (text.empty()) {
    return std::nullopt;
  }
  const std::optional<milliseconds> unit = unit_of(text.back());
  text.remove_suffix(1);
  std::uint32_t count = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (!unit || problem != std::errc() || stop != text.data() + text.size() || count > kCountMax) {
    return std::nullopt;
  }
  return now - *unit * count;
}

}  // namespace

std::optional<Timestamp> try_parse_time(std::string_view text, Timestamp now, RangeEnd end) {
  static constexpr std::size_t kDaySize = 10;     // 2026-01-11
  static constexpr std::size_t kMinuteSize = 16;  // 2026-01-11T10:05
  const Timestamp today = std::chrono::floor<days>(now);
  if (text == "now") {
    return now;
  }
  if (text == "today") {
    return end_of(today, days(1), end);
  }
  if (text == "yesterday") {
    return end_of(today - days(1), days(1), end);
  }
  if (std::optional<Timestamp> ago = time_ago(text, now)) {
    return ago;
  }
  if (text.size() == kDaySize) {
    if (const auto day = try_parse_rfc3339(std::string(text) + "T00:00:00Z")) {
      return end_of(*day, days(1), end);
    }
  }
  if (text.size() < kMinuteSize) {
    return std::nullopt;
  }
  std::string full(text);
  full[kDaySize] = full[kDaySize] == ' ' ? 'T' : full[kDaySize];
  if (full.size() == kMinuteSize) {
    const auto minute = try_parse_rfc3339(full + ":00Z");
    return minute ? std::optional(end_of(*minute, minutes(1), end)) : std::nullopt;
  }
  if (auto time = try_parse_rfc3339(full)) {
    return time;
  }
  return try_parse_rfc3339(full + "Z");
}

Result<Timestamp> parse_time(std::string_view text, Timestamp now, RangeEnd end,
                             std::string_view field) {
  if (const std::optional<Timestamp> time = try_parse_time(text, now, end)) {
    return *time;
  }
  return Error{.code = ErrorCode::E_INVALID_QUERY,
               .message = fmt::format(
                   "'{}' is no time; write 2026-01-11, 2026-01-11T10:05:23Z, 24h, 7d, 2w, "
                   "today or yesterday (UTC)",
                   text),
               .field = std::string(field)};
}

}  // namespace bmad_mem::cli
