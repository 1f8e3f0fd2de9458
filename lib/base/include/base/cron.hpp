// cron.hpp - when something is to happen, in the five fields of a crontab.
//
//   0 2 * * 0              Sundays at two
//   | | | | '-- day of the week   0-7 or sun-sat; 0 and 7 are Sunday
//   | | | '---- month             1-12 or jan-dec
//   | | '------ day of the month  1-31
//   | '-------- hour              0-23
//   '---------- minute            0-59
//
// A field is a list of `*`, `5`, `1-5`, `*/10` and `1-30/2`, with ',' between. All times are UTC.
// As in cron, a moment matches when either day does, if both are restricted. A field that allows
// all its values restricts nothing, however it is written.
#pragma once

#include <cstdint>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// A schedule of parse_cron(): for each field the values that it allows, as bits.
struct Cron {
  std::uint64_t minutes = 0;
  std::uint32_t hours = 0;
  std::uint32_t days = 0;      ///< Bits 1 to 31.
  std::uint32_t months = 0;    ///< Bits 1 to 12.
  std::uint32_t weekdays = 0;  ///< Bits 0 (Sunday) to 6.

  friend bool operator==(const Cron&, const Cron&) = default;
};

/// Errors: E_INVALID_FORMAT with the column, 1-based, at which the first mistake begins; also for a
/// day that never comes, such as 31 February.
Result<Cron> parse_cron(std::string_view text);

/// The first moment after `time` that matches, a whole minute. Never more than 8 years away: those
/// between the leap days of 2096 and 2104.
Timestamp next_after(const Cron& cron, Timestamp time);

}  // namespace bmad_mem
