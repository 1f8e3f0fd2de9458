// clock.hpp - the time the engine believes in. It is passed in, so that tests can set it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// A moment in UTC, in whole milliseconds since 1970-01-01T00:00:00Z.
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

/// Where the engine gets the time from. Implementations are safe to call from any thread.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// The present moment. May jump in both directions, as wall clocks do.
  [[nodiscard]] virtual Timestamp now() const = 0;
};

/// The machine's wall clock, or what move_system_clock() made of it; lives as long as the process.
const Clock& system_clock();

/// Makes system_clock() say `now` at this moment, and go on with the machine's clock from there:
/// for this process, and also for the times that files get which it writes into a memory, since
/// how long a session was idle is read off these. A tool for tests: `bmad-mem` does it for
/// $BMAD_MEM_NOW. Threads: call it before others ask for the time.
void move_system_clock(Timestamp now);

/// What system_clock() says less what the machine's clock says; 0 when it was not moved.
std::chrono::milliseconds system_clock_shift();

// Times as they stand in entries: "2026-01-11T10:05:23Z".
//
// Reads every RFC 3339 date-time: upper or lower case 'T' and 'Z', fractions of any length (cut to
// milliseconds), offsets, the leap second. Writes UTC with 'Z', and milliseconds only when there
// are some, so that what a person typed and what we wrote look alike.

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

// Moments as people name them in a filter: fixed, or counted back from the
// present.
//
//   since:2026-01-11   since:7d   until:yesterday   until:"2026-01-11 10:05"
//
// What is written is checked when the query is parsed, which needs no clock; the moment itself is
// asked for when the query runs. All in UTC.

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
