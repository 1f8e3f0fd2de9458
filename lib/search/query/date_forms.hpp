// date_forms.hpp - what dates in a text are made of: a calendar, the text as words, numbers and
// signs, and the forms of dates, which dates.txt has, tried at one token.
//
//   On May 7th, 2023 we bumped v2 to 3.1
//   w  w   7o , 2023 w  w      w  w  3 . 1        w: word, o: ordinal
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
};

/// `text` may be any bytes; what is beyond ASCII and no known sign or blank counts as letters.
std::vector<DateToken> date_tokens(std::string_view text);

// The forms of dates, tried at one token of a text.

/// A date and its tokens, `first` to `last`.
struct FoundDate {
  std::size_t first = 0;
  std::size_t last = 0;
  TimeStretch stretch;
  std::optional<TimeStretch> other = {};  ///< What it may mean as well: 05/08/2025.
};

/// The dates in `tokens` as seen by `calendar`, in their order and apart from each other.
std::vector<FoundDate> find_dates(const std::vector<DateToken>& tokens, const Calendar& calendar);

// A line of dates.txt, taken apart: words of a class, forms of dates.

/// What forms name besides classes of words.
enum class DateBuiltIn : std::uint8_t {
  kDay,
  kOrdinal,
  kDayNumber,
  kMonthNumber,
  kCount,
  kYear,
  kYearBehind,
  kFourDigits,
  kShortYear,
  kDayAndTime,
  kCapital,
  kTwo,
  kAny,
  kEnd,
  kSign,
  kAlnum,
  kInHan,
  kFrench,
  kAsks,
  kPhraseEnd,
};

/// The built-in test `name`; nothing for a class of words.
std::optional<DateBuiltIn> built_in(std::string_view name);

/// Words apart by '|', which may have a value.
struct DateWords {
  std::string_view name;
  int value = -1;
  std::string_view words;
};

struct DateTest {
  bool is_wanted = true;
  std::optional<DateBuiltIn> built_in;
  std::string_view name;  ///< Of a class.
};

struct DateElement {
  std::vector<std::string_view> words;  ///< One of them, or what passes all tests.
  std::vector<DateTest> tests;
  bool is_optional = false;
  bool is_glued = false;
  bool is_absent = false;
  bool is_filler = false;
};

/// What the forms of a line mean.
struct DateMeaning {
  std::string_view action = {};
  std::string_view detail = {};  ///< "ended", "this".
  int unit = -1;
  int count = -1;
  bool has_other = false;  ///< It may be the next one, too.
  bool may_bind = false;   ///< A sign may tie its end to what follows.
};

struct DateForm {
  DateMeaning meaning;
  std::vector<DateElement> before = {};
  std::vector<DateElement> named = {};
  std::vector<DateElement> after = {};
};

/// What a form takes from a text; -1 where it says nothing.
struct DateParts {
  int day = -1;
  int month = -1;
  int year = -1;
  int weekday = -1;
  int season = -1;
  int quarter = -1;
  int unit = -1;
  int count = -1;
};

/// `text` before and after the first `sign`, without the blanks around that.
std::pair<std::string_view, std::string_view> parted(std::string_view text, char sign);

/// How long `words` are up to the first blank; a character of Han or Kana is a word.
std::size_t first_word_size(std::string_view words);

/// The number that `text` begins with; -1 without.
int number_in(std::string_view text);

/// Takes `prefix` away from the front of `text` if it is there.
bool took(std::string_view& text, std::string_view prefix);

/// What `parts` of a text mean; nothing for what is no date, as 31 June.
std::optional<TimeStretch> stretch_of(const DateMeaning& meaning, const DateParts& parts,
                                      const Calendar& calendar);

/// The form `text` of a line that begins with `meaning`.
DateForm form_of(std::string_view text, std::string_view meaning);

}  // namespace bmad_mem
