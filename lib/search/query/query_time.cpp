// query_time.cpp - the times that a query may name: fixed ones, and those before now.
#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <utility>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::minutes;

/// From the first moment of what lasts `size` to the one that is meant.
milliseconds to_end(milliseconds size, RangeEnd end) {
  assert(size > milliseconds(0));
  return end == RangeEnd::kSince ? milliseconds(0) : size - milliseconds(1);
}

constexpr std::array<std::pair<char, milliseconds>, 5> kUnits = {{{'s', std::chrono::seconds(1)},
                                                                  {'m', minutes(1)},
                                                                  {'h', std::chrono::hours(1)},
                                                                  {'d', days(1)},
                                                                  {'w', std::chrono::weeks(1)}}};

/// "7d".
std::optional<milliseconds> parse_duration(std::string_view text) {
  constexpr std::uint32_t kUnitCountMax = 100'000;  // 1900 years in weeks: no overflow.
  if (text.empty()) {
    return std::nullopt;
  }
  const auto* const unit =
      std::ranges::find(kUnits, text.back(), &std::pair<char, milliseconds>::first);
  text.remove_suffix(1);
  const auto count = number_in<std::uint32_t>(text);
  if (unit == kUnits.end() || !count || *count > kUnitCountMax) {
    return std::nullopt;
  }
  return unit->second * *count;
}

/// Everything that starts with a date.
std::optional<Timestamp> parse_fixed(std::string_view text, RangeEnd end) {
  constexpr std::size_t kDaySize = 10;      // 2026-01-11
  constexpr std::size_t kMinuteSize = 16;   // 2026-01-11T10:05
  constexpr std::size_t kTimeSizeMax = 64;  // With a fraction longer than anybody's.
  if (text.size() == kDaySize) {
    const auto day = try_parse_rfc3339(std::string(text) + "T00:00:00Z");
    return day ? std::optional(*day + to_end(days(1), end)) : std::nullopt;
  }
  if (text.size() < kMinuteSize || text.size() > kTimeSizeMax) {
    return std::nullopt;
  }
  std::string full(text);
  full[kDaySize] = full[kDaySize] == ' ' ? 'T' : full[kDaySize];
  if (full.size() == kMinuteSize) {
    const auto minute = try_parse_rfc3339(full + ":00Z");
    return minute ? std::optional(*minute + to_end(minutes(1), end)) : std::nullopt;
  }
  const auto zoned = try_parse_rfc3339(full);
  return zoned ? zoned : try_parse_rfc3339(full + "Z");
}

}  // namespace

std::optional<QueryTime> QueryTime::try_parse(std::string_view text, RangeEnd end) {
  if (text == "now") {
    return QueryTime(Base::kNow, milliseconds(0));
  }
  if (text == "today") {
    return QueryTime(Base::kToday, to_end(days(1), end));
  }
  if (text == "yesterday") {
    return QueryTime(Base::kToday, to_end(days(1), end) - days(1));
  }
  if (const std::optional<milliseconds> duration = parse_duration(text)) {
    return QueryTime(Base::kNow, -*duration);
  }
  const std::optional<Timestamp> fixed = parse_fixed(text, end);
  return fixed ? std::optional(QueryTime(*fixed)) : std::nullopt;
}

Timestamp QueryTime::at(Timestamp now) const {
  switch (base_) {
    case Base::kNow:
      return now + shift_;
    case Base::kToday:
      return std::chrono::floor<days>(now) + shift_;
    case Base::kEpoch:
      break;
  }
  return Timestamp(shift_);
}

}  // namespace bmad_mem
