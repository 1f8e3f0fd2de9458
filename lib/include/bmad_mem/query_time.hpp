// query_time.hpp - moments as people name them in a filter: fixed, or counted back from the
// present.
//
//   since:2026-01-11   since:7d   until:yesterday   until:"2026-01-11 10:05"
//
// What is written is checked when the query is parsed, which needs no clock; the moment itself is
// asked for when the query runs. All in UTC.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "bmad_mem/clock.hpp"

namespace bmad_mem {

/// Which end of a range a moment is meant for. A day is its first millisecond as a beginning and
/// its last as an end; so is a minute. Both ends belong to the range.
enum class RangeEnd : std::uint8_t { kSince, kUntil };

class QueryTime {
 public:
  /// What is understood, for messages.
  static constexpr std::string_view kForms =
      "2026-01-11, 2026-01-11T10:05:23Z, 24h, 7d, 2w, today or yesterday (UTC)";

  /// What `text` names, or nothing when it names no moment:
  ///   2026-01-11T10:05:23Z, 2026-01-11T12:05:23+02:00   RFC 3339
  ///   2026-01-11, 2026-01-11 10:05, 2026-01-11T10:05:23  a day, a minute, a second, with ' ' or
  ///   'T' 90s, 45m, 24h, 7d, 2w                             so long ago now, today, yesterday
  static std::optional<QueryTime> try_parse(std::string_view text, RangeEnd end);

  explicit QueryTime(Timestamp fixed) : shift_(fixed.time_since_epoch()) {}

  /// The moment for one who asks at `now`.
  [[nodiscard]] Timestamp at(Timestamp now) const;

  /// Whether at() is the same for every `now`.
  [[nodiscard]] bool is_fixed() const { return base_ == Base::kEpoch; }

  bool operator==(const QueryTime&) const = default;

 private:
  enum class Base : std::uint8_t { kEpoch, kNow, kToday };
  QueryTime(Base base, std::chrono::milliseconds shift) : base_(base), shift_(shift) {}

  Base base_ = Base::kEpoch;
  std::chrono::milliseconds shift_;  // From the base.
};

}  // namespace bmad_mem
