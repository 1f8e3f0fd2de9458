// date_relative.cpp - dates that are counted back from the present.
#include <array>
#include <optional>
#include <string>

#include "date_context.hpp"

namespace bmad_mem {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

constexpr int kDateCountMax = 1000;             // Of units; a thousand years ago is the start.
constexpr std::size_t kFullWeekdaySizeMin = 6;  // "sun" and "sat" are words, "sunday" is a day.

/// "May I deploy on Friday?" asks about every Friday, or the next one.
bool asks_for_a_rule(const DateContext& dates) {
  for (std::size_t i = 0; i < dates.token_count(); ++i) {
    if (dates.is_any(i, {"may", "can", "could", "should", "shall", "must"}) &&
        dates.is_any(i + 1, {"i", "we", "you", "one", "they", "anybody", "anyone"})) {
      return true;
    }
  }
  return false;
}

/// "today", "yesterday", "the day before yesterday", "this morning", "last night", "on Friday".
std::optional<FoundDate> named_day(const DateContext& dates, std::size_t i) {
  if (!dates.stands_apart(i)) {
    return std::nullopt;
  }
  const sys_days today = dates.calendar().today();
  if (dates.is_any(i, {"today", "tonight"})) {
    return FoundDate{i, i, days_from(today)};
  }
  if (dates.is_any(i, {"yesterday"})) {
    return FoundDate{i, i, days_from(today - days(1))};
  }
  if (dates.is_any(i, {"day"}) && dates.is_any(i + 1, {"before"}) &&
      dates.is_any(i + 2, {"yesterday"})) {
    return FoundDate{i, i + 2, days_from(today - days(2))};
  }
  if (dates.is_any(i, {"this"}) && dates.is_any(i + 1, {"morning", "afternoon", "evening"})) {
    return FoundDate{i, i + 1, days_from(today)};
  }
  if (dates.is_any(i, {"last"}) && dates.is_any(i + 1, {"night"})) {
    return FoundDate{i, i + 1, days_from(today - days(1))};
  }
  const std::optional<std::chrono::weekday> weekday = weekday_word(dates.token(i).word);
  if (weekday && dates.is_any(i - 1, {"on", "since", "before", "after", "until"}) &&
      !asks_for_a_rule(dates) &&
      (dates.token(i).size >= kFullWeekdaySizeMin || dates.token(i).capital)) {
    return FoundDate{i, i, days_from(dates.calendar().latest_weekday(*weekday, false))};
  }
  return std::nullopt;
}

/// "two weeks ago", "3 days ago", "a couple of months ago".
std::optional<FoundDate> units_ago(const DateContext& dates, std::size_t i) {
  std::size_t at = i;
  at += dates.is_any(at, {"a"}) && dates.is_any(at + 1, {"few", "couple"}) ? 1U : 0U;
  const std::optional<int> count = dates.token(at).kind == DateTokenKind::kNumber
                                       ? std::optional(dates.token(at).value)
                                       : count_word(dates.token(at).word);
  at += dates.is_any(at + 1, {"of"}) ? 2U : 1U;
  const std::optional<TimeUnit> unit = unit_word(dates.token(at).word);
  if (!count || !unit || *count < 1 || *count > kDateCountMax || !dates.starts_apart(i) ||
      !dates.is_any(at + 1, {"ago"})) {
    return std::nullopt;
  }
  return FoundDate{i, at + 1, dates.calendar().unit_back(*unit, *count)};
}

/// "last 3 days", "past few weeks", "past 24 hours", "past week".
std::optional<FoundDate> last_count(const DateContext& dates, std::size_t i) {
  if (!dates.is_any(i, {"last", "past", "previous"})) {
    return std::nullopt;
  }
  const DateToken& number = dates.token(i + 1);
  const std::optional<int> count =
      number.kind == DateTokenKind::kNumber ? std::optional(number.value) : count_word(number.word);
  if (!count) {
    // "The past week" is the seven days up to now; "last week" is the one that ended on Sunday.
    const std::optional<TimeUnit> unit = unit_word(number.word);
    return unit && dates.is_any(i, {"past"}) && !number.word.ends_with('s')
               ? std::optional(FoundDate{i, i + 1, dates.calendar().up_to_now(*unit, 1)})
               : std::nullopt;
  }
  const std::size_t at = i + (dates.is_any(i + 2, {"of"}) ? 3 : 2);
  const std::optional<TimeUnit> unit = unit_word(dates.token(at).word);
  if (!unit || *count < 1 || *count > kDateCountMax) {
    return std::nullopt;
  }
  return FoundDate{i, at, dates.calendar().up_to_now(*unit, *count)};
}

std::optional<TimeStretch> last_or_this_stretch(const DateContext& dates, std::size_t i,
                                                bool is_last) {
  const std::string& word = dates.token(i).word;
  const int back = is_last ? 1 : 0;
  if (const std::optional<Season> season = season_word(word)) {
    return dates.calendar().latest_season(*season, is_last);
  }
  if (word == "weekend") {
    return days_from(dates.calendar().monday() + days(5 - 7 * back), 2);
  }
  const std::optional<TimeUnit> unit = unit_word(word);
  if (unit && !word.ends_with('s') && *unit >= TimeUnit::kWeek) {
    return dates.calendar().unit_back(*unit, back);
  }
  const std::optional<std::chrono::weekday> weekday = weekday_word(word);
  if (!weekday || (word.size() < kFullWeekdaySizeMin && !dates.token(i).capital)) {
    return std::nullopt;
  }
  return days_from(is_last ? dates.calendar().latest_weekday(*weekday, true)
                           : dates.calendar().monday() + (*weekday - std::chrono::Monday));
}

/// "last week", "this month", "last Friday", "last summer"; but not "the last week of May".
std::optional<FoundDate> last_or_this(const DateContext& dates, std::size_t i) {
  const bool is_last = dates.is_any(i, {"last", "previous"});
  if ((!is_last && !dates.is_any(i, {"this", "current"})) || !dates.starts_apart(i) ||
      !dates.ends_apart(i + 1) || dates.is_any(i + 2, {"of", "before", "after", "prior"})) {
    return std::nullopt;
  }
  const std::optional<TimeStretch> stretch = last_or_this_stretch(dates, i + 1, is_last);
  return stretch ? std::optional(FoundDate{i, i + 1, *stretch}) : std::nullopt;
}

}  // namespace

std::optional<FoundDate> relative_date_at(const DateContext& dates, std::size_t i) {
  return first_form(dates, i, {named_day, units_ago, last_count, last_or_this});
}

}  // namespace bmad_mem
