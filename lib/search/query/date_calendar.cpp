// date_calendar.cpp - days, weeks, months and years, counted back from a moment.
#include "date_forms.hpp"

namespace bmad_mem {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::months;
using std::chrono::sys_days;
using std::chrono::year_month;
using std::chrono::years;

sys_days first_day(year_month month) { return month / 1; }

std::chrono::month first_month(Season season) {
  return std::chrono::month(3 + 3 * static_cast<unsigned>(season));
}

}  // namespace

TimeStretch days_from(sys_days first, int count) {
  return {.begin = first, .end = first + days(count)};
}

TimeStretch months_from(year_month first, int count) {
  return {.begin = first_day(first), .end = first_day(first + months(count))};
}

TimeStretch whole_year(std::chrono::year year) { return months_from(year / 1, 12); }

TimeStretch whole_season(Season season, std::chrono::year year) {
  return months_from(year / first_month(season), 3);
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
