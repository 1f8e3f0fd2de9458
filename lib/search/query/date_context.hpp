// date_context.hpp - what dates in a text are made of: a calendar, the text as words, numbers and
// signs, what stands around each, and the forms of dates, tried at one.
//
//   On May 7th, 2023 we bumped v2 to 3.1
//   w  w   7o , 2023 w  w      w  w  3 . 1        w: word, o: ordinal
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bmad_mem/clock.hpp"

namespace bmad_mem {

// Days, weeks, months and years as stretches of time, in UTC.

struct TimeStretch {
  Timestamp begin{};
  Timestamp end{};  ///< Exclusive.
};

enum class TimeUnit : std::uint8_t { kMinute, kHour, kDay, kWeek, kMonth, kYear };

enum class Season : std::uint8_t { kSpring, kSummer, kAutumn, kWinter };

/// `count` days from `first` on.
TimeStretch days_from(std::chrono::sys_days first, int count = 1);

/// `count` months from `first` on.
TimeStretch months_from(std::chrono::year_month first, int count = 1);

TimeStretch whole_year(std::chrono::year year);

/// The three months of a season; winter begins in December of `year`.
TimeStretch whole_season(Season season, std::chrono::year year);

/// Questions asked at one moment.
class Calendar {
 public:
  explicit Calendar(Timestamp now)
      : now_(now), today_(std::chrono::floor<std::chrono::days>(now)), date_(today_) {}

  [[nodiscard]] std::chrono::sys_days today() const { return today_; }
  [[nodiscard]] std::chrono::year year() const { return date_.year(); }

  /// The year of the latest such month that has begun; with `ended`, that is over.
  [[nodiscard]] std::chrono::year latest_year(std::chrono::month month, bool ended) const;

  /// The latest such day that has begun; nothing for days that no month has.
  [[nodiscard]] std::optional<std::chrono::sys_days> latest_day(std::chrono::month month,
                                                                std::chrono::day day) const;

  /// The latest day of any month with this number that has begun.
  [[nodiscard]] std::chrono::sys_days latest_day_of_month(std::chrono::day day) const;

  /// The latest such day of the week; with `ended`, before today.
  [[nodiscard]] std::chrono::sys_days latest_weekday(std::chrono::weekday weekday,
                                                     bool ended) const;

  /// The latest such season that has begun; with `ended`, that is over.
  [[nodiscard]] TimeStretch latest_season(Season season, bool ended) const;

  /// Monday of this week.
  [[nodiscard]] std::chrono::sys_days monday() const;

  /// The whole day, week, month or year that lies `count` of them back; for minutes and hours, the
  /// hour around that moment. `count` is at most 1000.
  [[nodiscard]] TimeStretch unit_back(TimeUnit unit, int count) const;

  /// From `count` units ago to now; from days on, whole days with today.
  [[nodiscard]] TimeStretch up_to_now(TimeUnit unit, int count) const;

 private:
  Timestamp now_;
  std::chrono::sys_days today_;
  std::chrono::year_month_day date_;
};

// A text as tokens, and what the words mean for dates.

enum class DateTokenKind : std::uint8_t {
  kWord,     ///< Letters, digits and '_'.
  kNumber,   ///< Digits only.
  kOrdinal,  ///< 1st, 2nd, 3rd, 4th.
  kHan,      ///< One character of Chinese or Japanese, which have no blanks between words.
  kSign,     ///< Any other character.
  kEnd,      ///< In front of the first token and behind the last.
};

struct DateToken {
  DateTokenKind kind = DateTokenKind::kEnd;
  std::string word;      ///< In lower case and without accents; for a sign, the sign, ' for ’.
  int value = 0;         ///< Of a number or an ordinal; -1 when it has more than six digits.
  bool capital = false;  ///< Starts with an upper-case ASCII letter.
  bool glued = false;    ///< No blank between it and the token in front.
  std::size_t offset = 0;
  std::size_t size = 0;

  [[nodiscard]] bool is(std::string_view text) const { return word == text; }
};

/// `text` may be any bytes; what is beyond ASCII and no known sign or blank counts as letters.
std::vector<DateToken> date_tokens(std::string_view text);

/// Of a table whose rows have `words`, apart by '|', a table with a row for each word.
template <const auto& kRows>
inline constexpr auto kOneWordRows = [] {
  constexpr auto kCount = [] {
    std::size_t count = kRows.size();
    for (const auto& row : kRows) {
      count += static_cast<std::size_t>(std::ranges::count(row.words, '|'));
    }
    return count;
  }();
  std::array<typename std::remove_cvref_t<decltype(kRows)>::value_type, kCount> rows{};
  auto to = rows.begin();
  for (auto row : kRows) {
    for (std::string_view left = row.words; !left.empty();) {
      row.words = left.substr(0, left.find('|'));
      left.remove_prefix(std::min(row.words.size() + 1, left.size()));
      *to++ = row;
    }
  }
  return rows;
}();

/// A month's name or abbreviation.
struct MonthWord {
  std::chrono::month month;
  bool is_short = false;     ///< "jun".
  bool is_ordinary = false;  ///< Also means something else: "may", "march", "dec", "mai".
  bool is_foreign = false;   ///< German, French or Spanish, and not English as well.
};
std::optional<MonthWord> month_word(std::string_view word);

/// Names in full, and abbreviations of three or four letters.
std::optional<std::chrono::weekday> weekday_word(std::string_view word);

std::optional<std::chrono::weekday> german_weekday(std::string_view word);

std::optional<Season> season_word(std::string_view word);

/// Singular and plural.
std::optional<TimeUnit> unit_word(std::string_view word);

/// "a", "one" to "twelve", "few".
std::optional<int> count_word(std::string_view word);

/// German, French and Spanish: "tagen", "jours", "dias"; "zwei", "deux", "dos".
std::optional<TimeUnit> foreign_unit(std::string_view word);
std::optional<int> foreign_count(std::string_view word);

/// Whether a number in front of `word` counts things: "2000 users".
bool is_counted_word(std::string_view word);

/// Whether a number behind `word` is a name: "port 2020", "Windows 2000".
bool is_numbered_word(std::string_view word);

// What stands around a token decides whether it is part of a date.

/// A text's tokens. Wherever a token is asked for, `i` may lie beyond the last, or have wrapped
/// around in front of the first: there are tokens of kind kEnd.
class DateContext {
 public:
  DateContext(std::string_view text, Timestamp now) : tokens_(date_tokens(text)), calendar_(now) {}

  [[nodiscard]] std::size_t token_count() const { return tokens_.size(); }
  [[nodiscard]] const Calendar& calendar() const { return calendar_; }

  [[nodiscard]] const DateToken& token(std::size_t i) const;
  [[nodiscard]] bool is_any(std::size_t i, std::initializer_list<std::string_view> words) const;
  [[nodiscard]] bool is_sign(std::size_t i, std::string_view sign) const;

  [[nodiscard]] bool is_han(std::size_t i) const { return token(i).kind == DateTokenKind::kHan; }

  /// Whether no sign ties the token to the one in front, as in "v1.2023", "CVE-2023" or "a/may".
  [[nodiscard]] bool starts_apart(std::size_t i) const;
  /// Whether no sign ties the token to the one behind, as in "2023.1", "dec-001" or "may()".
  [[nodiscard]] bool ends_apart(std::size_t i) const;
  [[nodiscard]] bool stands_apart(std::size_t i) const { return starts_apart(i) && ends_apart(i); }

  /// Whether the token is the last of what it belongs to: the end, a sign or a stop word follows.
  /// "On the 8th we met", but not "on the 8th floor".
  [[nodiscard]] bool ends_phrase(std::size_t i) const;

  /// A word that stands in front of a day, in English, German, French or Spanish: "on", "vom".
  [[nodiscard]] bool is_day_cue(std::size_t i) const;

  /// The token in front of `i` and of "the", "early" and their like.
  [[nodiscard]] std::size_t cue_before(std::size_t i) const;

  /// A number that can be a year next to a month, and counts nothing.
  [[nodiscard]] bool is_year(std::size_t i) const;
  [[nodiscard]] std::chrono::year year_at(std::size_t i) const;
  /// The year of what ends at `last`: "May 2023", "May, 2023", "May of 2023", "7-May-2023".
  [[nodiscard]] std::optional<std::size_t> year_behind(std::size_t last) const;
  /// The year that what ends at `last` shares with what follows: "from May to June 2023",
  /// "between August 11 and August 15, 2023".
  [[nodiscard]] std::optional<std::chrono::year> shared_year(std::size_t last) const;

  /// The language of the text by its stop words; English when they don't tell. Goes through all.
  [[nodiscard]] std::string_view language() const;

  /// 1 to 31, 1st to 31st.
  [[nodiscard]] bool is_day_number(std::size_t i) const;

 private:
  std::vector<DateToken> tokens_;
  Calendar calendar_;
};

// The forms of dates, tried at one token of a text.

/// A date and its tokens, `first` to `last`.
struct FoundDate {
  std::size_t first = 0;
  std::size_t last = 0;
  TimeStretch stretch;
  std::optional<TimeStretch> other = {};  ///< What it may mean as well: 05/08/2025.
};

using DateForm = std::optional<FoundDate> (*)(const DateContext& dates, std::size_t i);

/// What the first of `forms` finds that finds something at token `i`.
std::optional<FoundDate> first_form(const DateContext& dates, std::size_t i,
                                    std::initializer_list<DateForm> forms);

/// "31.12.2025", "31.12.", "05/08/2025", "2025年12月31日": the form at token `i`.
std::optional<FoundDate> numeric_date_at(const DateContext& dates, std::size_t i);

/// "7 May 2023", "in June", "Q3 2025", "summer of 2023": the longest form at token `i`.
std::optional<FoundDate> absolute_date_at(const DateContext& dates, std::size_t i);

/// "yesterday", "last week", "3 days ago": the form at token `i`.
std::optional<FoundDate> relative_date_at(const DateContext& dates, std::size_t i);

/// "recently", "on Christmas", and what other languages call "last week" or "3 days ago": the form
/// at token `i`.
std::optional<FoundDate> phrase_date_at(const DateContext& dates, std::size_t i);

}  // namespace bmad_mem
