#include "base/cron.hpp"

#include <chrono>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "bmad_mem/clock.hpp"

namespace bmad_mem::test::cron_test {
namespace {

Timestamp at(std::string_view text) { return try_parse_rfc3339(text).value(); }

std::string next(std::string_view cron, std::string_view after) {
  return format_rfc3339(next_after(parse_cron(cron).value(), at(after)));
}

/// Whether `minute` matches, field by field and without any search.
bool matches(const Cron& cron, Timestamp minute) {
  const auto day = std::chrono::floor<std::chrono::days>(minute);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(minute - day);
  const auto has = [](std::uint64_t bits, auto value) {
    return ((bits >> static_cast<unsigned>(value)) & 1U) != 0;
  };
  const bool in_month = has(cron.days, static_cast<unsigned>(date.day()));
  const bool in_week = has(cron.weekdays, std::chrono::weekday(day).c_encoding());
  const bool both = cron.days != 0xFFFFFFFE && cron.weekdays != 0x7F;
  return has(cron.minutes, time.minutes().count()) && has(cron.hours, time.hours().count()) &&
         has(cron.months, static_cast<unsigned>(date.month())) &&
         (both ? in_month || in_week : in_month && in_week);
}

/// A field of one number, a range, a range with a step, or a star.
std::string any_field(int first, int last) {
  const int from = *rc::gen::inRange(first, last + 1);
  const int to = *rc::gen::inRange(from, last + 1);
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return std::to_string(from);
    case 1:
      return std::to_string(from) + '-' + std::to_string(to);
    case 2:
      return "*/" + std::to_string(*rc::gen::inRange(1, last + 1));
    default:
      return "*";
  }
}

}  // namespace

TEST_CASE("the next moment of a schedule") {
  struct Row {
    const char* cron;
    const char* after;
    const char* expected;
  };
  constexpr Row kRows[] = {
      // 2026-11-22 is a Sunday.
      {"0 2 * * 0", "2026-11-22T01:59:59Z", "2026-11-22T02:00:00Z"},
      {"0 2 * * 0", "2026-11-22T02:00:00Z", "2026-11-29T02:00:00Z"},
      {"0 2 * * 7", "2026-11-22T02:00:00Z", "2026-11-29T02:00:00Z"},
      {"0 2 * * sun", "2026-11-22T02:00:00Z", "2026-11-29T02:00:00Z"},
      {"0 2 * * SUN", "2026-11-22T02:00:00Z", "2026-11-29T02:00:00Z"},
      {"* * * * *", "2026-11-22T02:00:00Z", "2026-11-22T02:01:00Z"},
      {"* * * * *", "2026-11-22T02:00:59.999Z", "2026-11-22T02:01:00Z"},
      {"* * * * *", "2026-12-31T23:59:00Z", "2027-01-01T00:00:00Z"},
      {"*/15 * * * *", "2026-11-22T02:31:00Z", "2026-11-22T02:45:00Z"},
      {"*/15 * * * *", "2026-11-22T23:46:00Z", "2026-11-23T00:00:00Z"},
      {"10-40/15 * * * *", "2026-11-22T02:26:00Z", "2026-11-22T02:40:00Z"},
      {"10-40/15 * * * *", "2026-11-22T02:41:00Z", "2026-11-22T03:10:00Z"},
      {"5,35 8-10,20 * * *", "2026-11-22T10:36:00Z", "2026-11-22T20:05:00Z"},
      {"59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z"},
      {"0 0 1 jan,jul *", "2026-02-01T00:00:00Z", "2026-07-01T00:00:00Z"},
      {"0 0 * * mon-fri", "2026-11-21T00:00:00Z", "2026-11-23T00:00:00Z"},
      {"0 0 * * 5-7", "2026-11-23T00:00:00Z", "2026-11-27T00:00:00Z"},
      {"0 0 31 * *", "2026-11-01T00:00:00Z", "2026-12-31T00:00:00Z"},
      {"0 0 29 2 *", "2026-11-22T00:00:00Z", "2028-02-29T00:00:00Z"},
      {"0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
      // Either day when both are restricted; the 13th is a Friday in November 2026.
      {"0 0 13 * mon", "2026-11-09T00:00:00Z", "2026-11-13T00:00:00Z"},
      {"0 0 13 * mon", "2026-11-13T00:00:00Z", "2026-11-16T00:00:00Z"},
      {"0 0 31 2 mon", "2027-02-01T00:00:00Z", "2027-02-08T00:00:00Z"},
      // All days, written otherwise, restrict nothing.
      {"0 0 1-31 * mon", "2026-11-10T00:00:00Z", "2026-11-16T00:00:00Z"},
      {"0 0 13 * 0-6", "2026-11-10T00:00:00Z", "2026-11-13T00:00:00Z"},
      {"0 0 * * */2", "2026-11-22T00:00:00Z", "2026-11-24T00:00:00Z"},
      {" \t0  2 * * 0 ", "2026-11-22T01:00:00Z", "2026-11-22T02:00:00Z"},
      {"0 2 * * 0", "1969-12-27T00:00:00Z", "1969-12-28T02:00:00Z"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.cron);
    CAPTURE(row.after);
    CHECK(next(row.cron, row.after) == row.expected);
  }
}

TEST_CASE("a mistake is named with its column") {
  struct Row {
    const char* cron;
    std::uint64_t column;
    const char* message;
  };
  constexpr Row kRows[] = {
      {"", 1, "the minute is missing; five fields are needed, such as 0 2 * * 0"},
      {"0 2 * *", 8, "the day of the week is missing; five fields are needed, such as 0 2 * * 0"},
      {"0 2 * * 0 2027", 11, "nothing may follow the five fields"},
      {"60 2 * * 0", 1, "the minute takes 0 to 59, not `60`"},
      {"0 24 * * 0", 3, "the hour takes 0 to 23, not `24`"},
      {"0 2 0 * 0", 5, "the day of the month takes 1 to 31, not `0`"},
      {"0 2 * 13 0", 7, "the month takes 1 to 12 or a name of three letters, not `13`"},
      {"0 2 * * 8", 9, "the day of the week takes 0 to 7 or a name of three letters, not `8`"},
      {"0 2 * * sunday", 9,
       "the day of the week takes 0 to 7 or a name of three letters, not `sunday`"},
      {"0 2 * 1,xyz 0", 9, "the month takes 1 to 12 or a name of three letters, not `xyz`"},
      {"0 jan * * 0", 3, "the hour takes 0 to 23, not `jan`"},
      {"30-10 2 * * 0", 1, "the range of the minute runs backwards"},
      {"5/10 2 * * 0", 2, "a step follows * or a range, such as */10 or 0-30/5"},
      {"*/0 2 * * 0", 3, "the minute takes 1 to 59, not `0`"},
      {"-1 2 * * 0", 1, "the minute takes 0 to 59, not `-`"},
      {"0, 2 * * 0", 3, "the minute takes 0 to 59, not `?`"},
      {"** 2 * * 0", 2, "`*` has no place in the minute"},
      {"0 2 * * 99999999999", 9,
       "the day of the week takes 0 to 7 or a name of three letters, not `99999999999`"},
      {"@daily", 1, "the minute takes 0 to 59, not `@`"},
      {"\x1b 2 * * 0", 1, "the minute takes 0 to 59, not `?`"},
      {"0 0 31 2 *", 1, "none of these months has such a day"},
      {"0 0 30,31 feb *", 1, "none of these months has such a day"},
      {"0 0 31 4,6,9,11 *", 1, "none of these months has such a day"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.cron);
    const Result<Cron> cron = parse_cron(row.cron);
    REQUIRE_FALSE(cron.has_value());
    CHECK(cron.error().code == ErrorCode::E_INVALID_FORMAT);
    CHECK(cron.error().column == row.column);
    CHECK(cron.error().message == row.message);
  }
}

TEST_CASE("the next moment matches, and none before it does") {
  CHECK(rc::check([] {
    const std::string text = any_field(0, 59) + ' ' + any_field(0, 23) + ' ' + any_field(1, 28) +
                             ' ' + any_field(1, 12) + ' ' + any_field(0, 7);
    RC_LOG(text);
    const Cron cron = parse_cron(text).value();
    const Timestamp time =
        at("2026-11-22T00:00:00Z") + std::chrono::seconds(*rc::gen::inRange(0, 4 * 366 * 86400));
    const Timestamp next = next_after(cron, time);
    RC_ASSERT(next > time);
    RC_ASSERT(matches(cron, next));
    const auto first = std::chrono::floor<std::chrono::minutes>(time) + std::chrono::minutes(1);
    const auto last = std::min<Timestamp>(next, first + std::chrono::days(60));
    Timestamp minute = first;
    while (minute < last && !matches(cron, minute)) {
      minute += std::chrono::minutes(1);
    }
    RC_ASSERT(minute >= last);
  }));
}

}  // namespace bmad_mem::test::cron_test
