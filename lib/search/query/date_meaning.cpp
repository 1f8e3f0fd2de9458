// date_meaning.cpp - the stretch of time that a form of dates.txt means.
#include <chrono>
#include <optional>

#include "date_grammar.hpp"

namespace bmad_mem {
namespace {

using std::chrono::sys_days;

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
  const std::chrono::weekday weekday(static_cast<unsigned>(value));
  return days_from(which == "this" ? calendar.monday() + (weekday - std::chrono::Monday)
                                   : calendar.latest_weekday(weekday, which == "ended"));
}

}  // namespace

std::optional<TimeStretch> stretch_of(const DateMeaning& meaning, const DateParts& parts,
                                      const Calendar& calendar) {
  constexpr int kCountMax = 1000;     // Of units; a thousand years ago is the start.
  constexpr int kLoneYearMin = 1970;  // Without a month beside it, an earlier number is no year.
  const std::string_view action = meaning.action;
  const bool is_ended = meaning.detail == "ended";
  const int count = meaning.count >= 0 ? meaning.count : parts.count;
  const auto unit = static_cast<TimeUnit>(meaning.unit >= 0 ? meaning.unit : parts.unit);
  const std::optional<std::chrono::year> year =
      parts.year >= 0 ? std::optional(std::chrono::year(parts.year)) : std::nullopt;
  const std::chrono::month month(static_cast<unsigned>(parts.month));
  if (action == "back" || action == "upto") {
    if (count > kCountMax || (meaning.count < 0 && count < 1)) {
      return std::nullopt;
    }
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
    const auto season = static_cast<Season>(parts.season);
    return year ? whole_season(season, *year) : calendar.latest_season(season, is_ended);
  }
  if (action == "quarter") {
    const std::chrono::month first(static_cast<unsigned>(3 * parts.quarter - 2));
    return months_from(*year / first, 3);
  }
  const bool is_known =
      parts.year >= kLoneYearMin && *year <= calendar.year() + std::chrono::years(1);
  return action == "year" || is_known ? std::optional(whole_year(*year)) : std::nullopt;
}

}  // namespace bmad_mem
