// date_absolute.cpp - dates that a calendar names; where the year is missing, the clock adds it.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "date_context.hpp"

namespace bmad_mem {
namespace {

using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr int kLoneYearMin = 1970;  // Without a month beside it, an earlier number is no year.

/// The last token of the month's name at `i`: behind a short one there may be a dot.
std::size_t month_end(const DateContext& dates, std::size_t i, const MonthWord& month) {
  return month.is_short && dates.is_sign(i + 1, ".") && dates.token(i + 1).glued ? i + 1 : i;
}

/// Whether a sign follows at `i` that ties what is in front to what is behind.
bool is_tie(const DateContext& dates, std::size_t i, std::string_view sign) {
  return dates.is_sign(i, sign) && dates.token(i).glued && dates.token(i + 1).glued;
}

/// The last token of the time behind the "07T10" at `i`.
std::size_t time_end(const DateContext& dates, std::size_t i) {
  while (dates.is_any(i + 1, {":", ".", "+", "-"}) && dates.token(i + 1).glued &&
         dates.token(i + 2).glued && dates.token(i + 2).kind != DateTokenKind::kSign) {
    i += 2;
  }
  return i;
}

/// The "-07" or "-07T10:00:00Z" behind a year and a month that end at `i`.
std::optional<FoundDate> iso_day(const DateContext& dates, std::size_t i,
                                 std::chrono::year_month month) {
  const std::string& text = dates.token(i + 2).word;
  const bool has_time = text.size() > 2 && text[2] == 't';
  if (text.size() < 2 || text.find_first_not_of("0123456789") < 2 ||
      (text.size() > 2 && !has_time)) {
    return std::nullopt;
  }
  const int day = 10 * (text[0] - '0') + (text[1] - '0');
  const year_month_day date = month / std::chrono::day(static_cast<unsigned>(day));
  const std::size_t last = has_time ? time_end(dates, i + 2) : i + 2;
  return date.ok() && dates.ends_apart(last)
             ? std::optional(FoundDate{i - 2, last, days_from(sys_days(date))})
             : std::nullopt;
}

/// "2023-05-07", "2023/05/07", "2023-05-07T10:00:00Z", "2023-05".
std::optional<FoundDate> iso_date(const DateContext& dates, std::size_t i) {
  const DateToken& year = dates.token(i);
  const DateToken& month = dates.token(i + 2);
  const std::string_view sign = is_tie(dates, i + 1, "-") ? "-" : "/";
  if (year.kind != DateTokenKind::kNumber || year.size != 4 || !dates.starts_apart(i) ||
      month.kind != DateTokenKind::kNumber || month.size != 2 || !is_tie(dates, i + 1, sign)) {
    return std::nullopt;
  }
  const auto year_month = dates.year_at(i) / month.value;
  if (is_tie(dates, i + 3, sign)) {
    return iso_day(dates, i + 2, year_month);
  }
  return sign == "-" && year_month.ok() && dates.ends_apart(i + 2)
             ? std::optional(FoundDate{i, i + 2, months_from(year_month)})
             : std::nullopt;
}

/// The day `day`, whose tokens end at `last` and then at the year if one follows.
std::optional<FoundDate> day_of(const DateContext& dates, std::size_t first, std::size_t last,
                                std::chrono::month month, int day,
                                std::optional<std::size_t> year) {
  const std::chrono::day day_of_month(static_cast<unsigned>(day));
  const std::optional<std::chrono::year> known =
      year ? std::optional(dates.year_at(*year)) : dates.shared_year(last);
  if (!known) {
    const std::optional<sys_days> latest = dates.calendar().latest_day(month, day_of_month);
    return latest ? std::optional(FoundDate{first, last, days_from(*latest)}) : std::nullopt;
  }
  const year_month_day date = *known / month / day_of_month;
  return date.ok() ? std::optional(FoundDate{first, year.value_or(last), days_from(sys_days(date))})
                   : std::nullopt;
}

/// Whether the day `i` and the month `at` leave no doubt without a year: "5 may be too many" is no
/// date, nor is the "3. April" of a list.
bool is_surely_day(const DateContext& dates, std::size_t i, std::size_t at,
                   const MonthWord& month) {
  const bool has_cue = dates.is_day_cue(i - 1);
  if (dates.is_sign(i + 1, ".") && !month.is_foreign) {
    return has_cue;
  }
  const DateTokenKind next = dates.token(at + 1).kind;
  const bool ends = next == DateTokenKind::kEnd || next == DateTokenKind::kSign ||
                    dates.is_any(at + 1, {"at", "in", "did", "was", "were"});
  return !month.is_ordinary || dates.token(at).capital || at > i + 1 || has_cue || ends ||
         dates.token(i).kind == DateTokenKind::kOrdinal;
}

/// "7 May", "7th of May", "7. Mai", "7 de mayo", each with a year or without.
std::optional<FoundDate> day_month(const DateContext& dates, std::size_t i) {
  if (!dates.is_day_number(i) || !dates.starts_apart(i)) {
    return std::nullopt;
  }
  const bool has_of = dates.is_any(i + 1, {"of", "de"});
  const bool has_dot = dates.is_sign(i + 1, ".") && dates.token(i + 1).glued;
  const bool has_dash =
      dates.is_any(i + 1, {"-", "/"}) && dates.token(i + 1).glued && dates.token(i + 2).glued;
  const std::size_t at = i + (has_of || has_dot || has_dash ? 2 : 1);
  const std::optional<MonthWord> month = month_word(dates.token(at).word);
  if (!month) {
    return std::nullopt;
  }
  const std::size_t last = month_end(dates, at, *month);
  const std::optional<std::size_t> year = dates.year_behind(last);
  if (!year && (has_dash || !is_surely_day(dates, i, at, *month) || !dates.ends_apart(last))) {
    return std::nullopt;
  }
  return day_of(dates, i, at, month->month, dates.token(i).value, year);
}

/// "May 7", "May the 7th", each with a year or without.
std::optional<FoundDate> month_day(const DateContext& dates, std::size_t i) {
  const std::optional<MonthWord> month = month_word(dates.token(i).word);
  if (!month || month->is_foreign || !dates.starts_apart(i)) {
    return std::nullopt;
  }
  std::size_t at = month_end(dates, i, *month) + 1;
  at += dates.is_any(at, {"the"}) ? 1U : 0U;
  if (!dates.is_day_number(at) || is_counted_word(dates.token(at + 1).word)) {
    return std::nullopt;
  }
  const std::optional<std::size_t> year = dates.year_behind(at);
  if (!year && !dates.ends_apart(at) && !dates.is_sign(at + 1, "-")) {
    return std::nullopt;
  }
  return day_of(dates, i, at, month->month, dates.token(at).value, year);
}

std::optional<FoundDate> month_year(const DateContext& dates, std::size_t i) {
  const std::optional<MonthWord> month = month_word(dates.token(i).word);
  if (!month || !dates.starts_apart(i)) {
    return std::nullopt;
  }
  const std::optional<std::size_t> year = dates.year_behind(month_end(dates, i, *month));
  return year ? std::optional(FoundDate{i, *year, months_from(dates.year_at(*year) / month->month)})
              : std::nullopt;
}

/// Whether the words in front of the month at `i` say that it is one. "In may" may be anything.
bool is_surely_month(const DateContext& dates, std::size_t i, const MonthWord& month) {
  const std::size_t cue = dates.cue_before(i);
  if (month.is_foreign) {
    return dates.is_any(cue, {"im", "en", "seit", "bis", "depuis", "desde", "hasta", "letzten"});
  }
  if ((month.is_ordinary || month.is_short) && !dates.token(i).capital) {
    return false;
  }
  return dates.is_any(cue, {"in", "during", "since", "until", "till", "before", "after", "by", "of",
                            "from", "through", "throughout", "last", "im", "seit"}) ||
         (!month.is_ordinary && dates.is_any(cue, {"this"}));
}

/// "in June", "before June", "im Juni": the latest; "last June": the latest that is over.
std::optional<FoundDate> lone_month(const DateContext& dates, std::size_t i) {
  const std::optional<MonthWord> month = month_word(dates.token(i).word);
  if (!month || !dates.stands_apart(i) || !is_surely_month(dates, i, *month)) {
    return std::nullopt;
  }
  const std::size_t cue = dates.cue_before(i);
  const bool is_last = dates.is_any(cue, {"last", "letzten"});
  const std::chrono::year year =
      dates.shared_year(i).value_or(dates.calendar().latest_year(month->month, is_last));
  const std::size_t first = is_last || dates.is_any(cue, {"this"}) ? cue : i;
  return FoundDate{first, i, months_from(year / month->month)};
}

/// "Q3 2023", "Q3 of 2023".
std::optional<FoundDate> quarter_year(const DateContext& dates, std::size_t i) {
  const std::string& word = dates.token(i).word;
  if (word.size() != 2 || word[0] != 'q' || word[1] < '1' || word[1] > '4' ||
      !dates.starts_apart(i)) {
    return std::nullopt;
  }
  const std::optional<std::size_t> year = dates.year_behind(i);
  if (!year) {
    return std::nullopt;
  }
  const std::chrono::month first(static_cast<unsigned>(3 * (word[1] - '1') + 1));
  return FoundDate{i, *year, months_from(dates.year_at(*year) / first, 3)};
}

/// "summer 2023", "summer of 2023"; "during the summer": the latest.
std::optional<FoundDate> season(const DateContext& dates, std::size_t i) {
  const std::optional<Season> season = season_word(dates.token(i).word);
  if (!season || !dates.starts_apart(i)) {
    return std::nullopt;
  }
  if (const std::optional<std::size_t> year = dates.year_behind(i)) {
    return FoundDate{i, *year, whole_season(*season, dates.year_at(*year))};
  }
  // "In the fall of the house", "in Spring Boot": only "during" leaves no doubt.
  return dates.ends_apart(i) && dates.is_any(dates.cue_before(i), {"during"})
             ? std::optional(FoundDate{i, i, dates.calendar().latest_season(*season, false)})
             : std::nullopt;
}

/// "on the 8th", but not "on the 8th floor": the latest.
std::optional<FoundDate> lone_day(const DateContext& dates, std::size_t i) {
  if (dates.token(i).kind != DateTokenKind::kOrdinal || !dates.is_day_number(i) ||
      !dates.is_any(i - 1, {"the"}) || !dates.ends_phrase(i) || dates.is_any(i + 1, {"of"}) ||
      !dates.is_any(i - 2, {"on", "since", "until", "before", "after", "by"})) {
    return std::nullopt;
  }
  const std::chrono::day day(static_cast<unsigned>(dates.token(i).value));
  return FoundDate{i, i, days_from(dates.calendar().latest_day_of_month(day))};
}

std::optional<FoundDate> lone_year(const DateContext& dates, std::size_t i) {
  const bool is_in_han = (dates.token(i).glued && dates.is_han(i - 1)) ||
                         (dates.token(i + 1).glued && dates.is_han(i + 1));
  if (is_in_han || !dates.is_year(i) || !dates.starts_apart(i) ||
      is_numbered_word(dates.token(i - 1).word)) {
    return std::nullopt;
  }
  const std::chrono::year next_year = dates.calendar().year() + std::chrono::years(1);
  if (dates.token(i).value < kLoneYearMin || dates.year_at(i) > next_year) {
    return std::nullopt;
  }
  return FoundDate{i, i, whole_year(dates.year_at(i))};
}

}  // namespace

std::optional<FoundDate> absolute_date_at(const DateContext& dates, std::size_t i) {
  // The longer form first: "7 May 2023" before "May 2023" before "2023".
  return first_form(dates, i,
                    {iso_date, day_month, month_day, month_year, lone_month, lone_day, quarter_year,
                     season, lone_year});
}

}  // namespace bmad_mem
