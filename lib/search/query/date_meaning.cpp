// date_meaning.cpp - computes the stretch of time that a form of dates.txt means.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <optional>

#include "date_forms.hpp"
#include "search/date_span.hpp"

namespace bmad_mem {

namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::months;
using std::chrono::sys_days;
using std::chrono::year_month;
using std::chrono::years;

std::optional<TimeStretch> day_of(const DateParts& parts, std::optional<std::chrono::year> year,
                                  const Calendar& calendar) {
  const auto date = std::chrono::month(static_cast<unsigned>(parts.month)) /
                    std::chrono::day(static_cast<unsigned>(parts.day));
  if (!year) {
    const std::optional<sys_days> latest = calendar.latest_day(date.month(), date.day());
    return latest ? std::optional(days_from(*latest)) : std::nullopt;
  }
  const std::chrono::year_month_day whole = *year / date;
  return whole.ok() ? std::optional(days_from(sys_days(whole))) : std::nullopt;
}

TimeStretch weekday_of(int value, std::string_view which, const Calendar& calendar) {
  assert(value >= 0 && value < 7 && "the form names a weekday");
  const std::chrono::weekday weekday(static_cast<unsigned>(value));
  return days_from(which == "this" ? calendar.monday() + (weekday - std::chrono::Monday)
                                   : calendar.latest_weekday(weekday, which == "ended"));
}

sys_days first_day(year_month month) { return month / 1; }

}  // namespace

std::optional<TimeStretch> stretch_of(const DateMeaning& meaning, const DateParts& parts,
                                      const Calendar& calendar) {
  constexpr int kUnitsMax = 1000;     // Of units; a thousand years ago is the start.
  constexpr int kLoneYearMin = 1970;  // Without a month beside it, an earlier number is no year.
  const std::string_view action = meaning.action;
  const bool is_ended = meaning.detail == "ended";
  const int count = meaning.count >= 0 ? meaning.count : parts.count;
  const auto unit = static_cast<TimeUnit>(meaning.unit >= 0 ? meaning.unit : parts.unit);
  const std::optional<std::chrono::year> year =
      parts.year >= 0 ? std::optional(std::chrono::year(parts.year)) : std::nullopt;
  const std::chrono::month month(static_cast<unsigned>(parts.month));
  if (action == "back" || action == "upto") {
    if (count > kUnitsMax || (meaning.count < 0 && count < 1)) {
      return std::nullopt;
    }
    assert(unit <= TimeUnit::kYear && "the form names a unit");
    return action == "back" ? calendar.unit_back(unit, count) : calendar.up_to_now(unit, count);
  }
  if (action == "day") {
    return day_of(parts, year, calendar);
  }
  if (action == "month") {
    return months_from(year.value_or(calendar.latest_year(month, is_ended)) / month);
  }
  if (action == "monthday") {
    const std::chrono::day day(static_cast<unsigned>(parts.day));
    return days_from(calendar.latest_day_of_month(day));
  }
  if (action == "weekday") {
    return weekday_of(parts.weekday, meaning.detail, calendar);
  }
  if (action == "weekend") {
    return days_from(calendar.monday() + std::chrono::days(5 - 7 * count), 2);
  }
  if (action == "season") {
    assert(parts.season >= 0 && parts.season < 4);
    const auto season = static_cast<Season>(parts.season);
    return year ? whole_season(season, *year) : calendar.latest_season(season, is_ended);
  }
  if (action == "quarter") {
    assert(year && parts.quarter >= 1 && parts.quarter <= 4);
    const std::chrono::month first(static_cast<unsigned>(3 * parts.quarter - 2));
    return months_from(*year / first, 3);
  }
  const bool is_known =
      parts.year >= kLoneYearMin && *year <= calendar.year() + std::chrono::years(1);
  return action == "year" || is_known ? std::optional(whole_year(*year)) : std::nullopt;
}

std::vector<DateSpan> find_date_spans(std::string_view text, Timestamp now) {
  const std::vector<DateToken> tokens = date_tokens(text);
  std::vector<DateSpan> spans;
  for (const FoundDate& found : find_dates(tokens, Calendar(now))) {
    const DateToken& last = tokens[found.last];
    assert(found.first <= found.last && found.stretch.begin < found.stretch.end);
    const std::size_t offset = tokens[found.first].offset;
    spans.push_back({.begin = found.stretch.begin,
                     .end = found.stretch.end,
                     .offset = offset,
                     .size = last.offset + last.size - offset});
    if (found.other) {
      spans.push_back(spans.back());
      spans.back().begin = found.other->begin;
      spans.back().end = found.other->end;
    }
  }
  return spans;
}

double date_match(Timestamp time, const DateSpan& span) {
  constexpr double kJustAfter = 0.5;
  if (time < span.begin) {
    return 0;
  }
  if (time < span.end) {
    return 1;
  }
  using Days = std::chrono::duration<double, std::chrono::days::period>;
  const double passed = Days(time - span.end) / Days(kDateEcho);
  return std::max(0.0, kJustAfter * (1 - passed));
}

TimeStretch days_from(sys_days first, int count) {
  return {.begin = first, .end = first + days(count)};
}

TimeStretch months_from(year_month first, int count) {
  assert(first.month().ok() && count > 0);
  return {.begin = first_day(first), .end = first_day(first + months(count))};
}

TimeStretch whole_year(std::chrono::year year) { return months_from(year / 1, 12); }

TimeStretch whole_season(Season season, std::chrono::year year) {
  return months_from(year / std::chrono::month(3 + 3 * static_cast<unsigned>(season)), 3);
}

std::chrono::year Calendar::latest_year(std::chrono::month month, bool ended) const {
  const bool counts = ended ? month < date_.month() : month <= date_.month();
  return counts ? date_.year() : date_.year() - years(1);
}

std::optional<sys_days> Calendar::latest_day(std::chrono::month month, std::chrono::day day) const {
  constexpr int kYearsBackMax = 8;  // From 1904 to 1896 there was no 29 February.
  for (int back = 0; back <= kYearsBackMax; ++back) {
    const std::chrono::year_month_day date = (date_.year() - years(back)) / month / day;
    if (date.ok() && sys_days(date) <= today_) {
      return sys_days(date);
    }
  }
  return std::nullopt;
}

sys_days Calendar::latest_day_of_month(std::chrono::day day) const {
  assert(day.ok() && "else no month has it");
  year_month month = date_.year() / date_.month();
  while (!(month / day).ok() || sys_days(month / day) > today_) {
    month -= months(1);
  }
  return month / day;
}

sys_days Calendar::latest_weekday(std::chrono::weekday weekday, bool ended) const {
  const days back = std::chrono::weekday(today_) - weekday;  // 0 to 6.
  return today_ - (ended && back == days(0) ? days(7) : back);
}

TimeStretch Calendar::latest_season(Season season, bool ended) const {
  TimeStretch stretch = whole_season(season, date_.year());
  for (int back = 1; stretch.begin > now_ || (ended && stretch.end > now_); ++back) {
    stretch = whole_season(season, date_.year() - years(back));
  }
  return stretch;
}

sys_days Calendar::monday() const {
  return today_ - (std::chrono::weekday(today_) - std::chrono::Monday);
}

TimeStretch Calendar::unit_back(TimeUnit unit, int count) const {
  assert(count >= 0 && count <= 1000);
  switch (unit) {
    case TimeUnit::kMinute:
    case TimeUnit::kHour: {
      const Timestamp moment =
          now_ - (unit == TimeUnit::kMinute ? minutes(count) : minutes(60 * count));
      const Timestamp hour = std::chrono::floor<hours>(moment);
      return {.begin = hour, .end = hour + hours(1)};
    }
    case TimeUnit::kDay:
      return days_from(today_ - days(count));
    case TimeUnit::kWeek:
      return days_from(monday() - days(7 * count), 7);
    case TimeUnit::kMonth:
      return months_from(date_.year() / date_.month() - months(count));
    case TimeUnit::kYear:
      break;
  }
  return whole_year(date_.year() - years(count));
}

TimeStretch Calendar::up_to_now(TimeUnit unit, int count) const {
  const Timestamp tomorrow = today_ + days(1);
  const Timestamp behind_now = now_ + std::chrono::milliseconds(1);
  switch (unit) {
    case TimeUnit::kMinute:
      return {.begin = now_ - minutes(count), .end = behind_now};
    case TimeUnit::kHour:
      return {.begin = now_ - hours(count), .end = behind_now};
    case TimeUnit::kDay:
      return {.begin = today_ - days(count), .end = tomorrow};
    case TimeUnit::kWeek:
      return {.begin = today_ - days(7 * count), .end = tomorrow};
    case TimeUnit::kMonth:
    case TimeUnit::kYear:
      break;
  }
  const year_month first =
      date_.year() / date_.month() - months(unit == TimeUnit::kYear ? 12 * count : count);
  // The 31st of a shorter month is the 1st of the one behind it.
  return {.begin = first_day(first) + (date_.day() - std::chrono::day(1)), .end = tomorrow};
}

}  // namespace bmad_mem
