// date_numeric.cpp - dates whose months are numbers: German, American, British, Chinese, Japanese.
#include <array>
#include <initializer_list>
#include <optional>
#include <string>

#include "date_context.hpp"

namespace bmad_mem {
namespace {

using std::chrono::sys_days;
using std::chrono::year_month_day;

/// A number of one or two digits, 1 to 31.
bool is_short_number(const DateContext& dates, std::size_t i) {
  return dates.token(i).kind == DateTokenKind::kNumber && dates.is_day_number(i);
}

std::chrono::month month_at(const DateContext& dates, std::size_t i) {
  return std::chrono::month(static_cast<unsigned>(dates.token(i).value));
}

std::chrono::day day_at(const DateContext& dates, std::size_t i) {
  return std::chrono::day(static_cast<unsigned>(dates.token(i).value));
}

/// Whether `sign` and a number follow the number at `i` without a blank.
bool has_next_number(const DateContext& dates, std::size_t i, std::string_view sign) {
  return dates.is_sign(i + 1, sign) && dates.token(i + 1).glued && dates.token(i + 2).glued &&
         dates.token(i + 2).kind == DateTokenKind::kNumber;
}

/// The stretch of one day, if there is such a day.
std::optional<TimeStretch> whole_day(year_month_day date) {
  return date.ok() ? std::optional(days_from(sys_days(date))) : std::nullopt;
}

/// Whether "3.5." is a day and not the end of a sentence about Python 3.5.
bool is_dotted_day(const DateContext& dates, std::size_t i) {
  const DateToken& next = dates.token(i + 4);
  if (next.glued && next.kind != DateTokenKind::kSign && next.kind != DateTokenKind::kEnd) {
    return false;
  }
  const bool goes_on = next.kind != DateTokenKind::kEnd && !next.capital;
  return dates.is_day_cue(i - 1) || i == 0 ||
         (goes_on && !is_numbered_word(dates.token(i - 1).word));
}

/// The year of "31.12.25", which is not in the future; "1.2.3" and "10.0.1" are versions.
std::optional<std::chrono::year> short_year(const DateContext& dates, std::size_t i) {
  for (const std::size_t part : {i, i + 2, i + 4}) {
    if (dates.token(part).size != 2) {
      return std::nullopt;
    }
  }
  const std::chrono::year year(2000 + dates.token(i + 4).value);
  return year <= dates.calendar().year() ? std::optional(year) : std::nullopt;
}

/// "31.12.2025", "8.5.2025", "31.12.25", "31.12.".
std::optional<FoundDate> dotted_date(const DateContext& dates, std::size_t i) {
  if (!is_short_number(dates, i) || !dates.starts_apart(i) || !has_next_number(dates, i, ".") ||
      !is_short_number(dates, i + 2) || is_numbered_word(dates.token(i - 1).word)) {
    return std::nullopt;
  }
  const auto month_day = month_at(dates, i + 2) / day_at(dates, i);
  if (!has_next_number(dates, i + 2, ".")) {
    if (!dates.is_sign(i + 3, ".") || !dates.token(i + 3).glued || !is_dotted_day(dates, i)) {
      return std::nullopt;
    }
    const std::optional<sys_days> latest =
        dates.calendar().latest_day(month_day.month(), month_day.day());
    return latest ? std::optional(FoundDate{i, i + 3, days_from(*latest)}) : std::nullopt;
  }
  const std::optional<std::chrono::year> year =
      dates.is_year(i + 4) ? std::optional(dates.year_at(i + 4)) : short_year(dates, i);
  const std::optional<TimeStretch> day = year ? whole_day(*year / month_day) : std::nullopt;
  return day && dates.ends_apart(i + 4) ? std::optional(FoundDate{i, i + 4, *day}) : std::nullopt;
}

/// "05/08/2025": May 8 in America, 5 August elsewhere. Both, unless one part is no month.
std::optional<FoundDate> slashed_date(const DateContext& dates, std::size_t i) {
  if (!is_short_number(dates, i) || !dates.starts_apart(i) || !has_next_number(dates, i, "/") ||
      !is_short_number(dates, i + 2) || !has_next_number(dates, i + 2, "/") ||
      !dates.is_year(i + 4)) {
    return std::nullopt;
  }
  const std::chrono::year year = dates.year_at(i + 4);
  std::optional<TimeStretch> american = whole_day(year / month_at(dates, i) / day_at(dates, i + 2));
  std::optional<TimeStretch> british = whole_day(year / month_at(dates, i + 2) / day_at(dates, i));
  if (!american) {
    american.swap(british);
  }
  if (!american) {
    return std::nullopt;
  }
  const bool is_both = british && british->begin != american->begin;
  return FoundDate{i, i + 4, *american, is_both ? british : std::nullopt};
}

/// Whether the number at `i` has the Han character `unit` behind it.
bool is_han_number(const DateContext& dates, std::size_t i,
                   std::initializer_list<std::string_view> unit) {
  return dates.token(i).kind == DateTokenKind::kNumber && dates.is_any(i + 1, unit);
}

/// "12月31日", "12月"; with `year` of that year, else the latest. `first` is where the year begins.
std::optional<FoundDate> han_month(const DateContext& dates, std::size_t first, std::size_t i,
                                   std::optional<std::chrono::year> year) {
  if (!is_han_number(dates, i, {"月"}) || !month_at(dates, i).ok()) {
    return std::nullopt;
  }
  const std::chrono::month month = month_at(dates, i);
  if (!is_han_number(dates, i + 2, {"日", "号", "號"})) {
    const std::chrono::year known = year.value_or(dates.calendar().latest_year(month, false));
    return FoundDate{first, i + 1, months_from(known / month)};
  }
  const std::optional<sys_days> latest = dates.calendar().latest_day(month, day_at(dates, i + 2));
  const std::optional<TimeStretch> day = year     ? whole_day(*year / month / day_at(dates, i + 2))
                                         : latest ? std::optional(days_from(*latest))
                                                  : std::nullopt;
  return day ? std::optional(FoundDate{first, i + 3, *day}) : std::nullopt;
}

/// "2025年12月31日", "2025年12月", "2025年", "12月31日", "12月".
std::optional<FoundDate> han_date(const DateContext& dates, std::size_t i) {
  if (!dates.starts_apart(i)) {
    return std::nullopt;
  }
  if (!dates.is_year(i) || !is_han_number(dates, i, {"年"})) {
    return han_month(dates, i, i, std::nullopt);
  }
  const std::chrono::year year = dates.year_at(i);
  if (const std::optional<FoundDate> month = han_month(dates, i, i + 2, year)) {
    return month;
  }
  return FoundDate{i, i + 1, whole_year(year)};
}

}  // namespace

std::optional<FoundDate> numeric_date_at(const DateContext& dates, std::size_t i) {
  if (dates.token(i).kind != DateTokenKind::kNumber) {
    return std::nullopt;
  }
  return first_form(dates, i, {dotted_date, slashed_date, han_date});
}

}  // namespace bmad_mem
