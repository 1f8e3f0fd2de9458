// date_tokens.hpp - a text as words, numbers and signs, and what the words mean for dates.
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
#include <vector>

#include "date_calendar.hpp"

namespace bmad_mem {

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

}  // namespace bmad_mem
