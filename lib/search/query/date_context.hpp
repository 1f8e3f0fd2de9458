// date_context.hpp - what stands around a token, which decides whether it is part of a date;
// and the forms of dates, tried at one.
#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "date_calendar.hpp"
#include "date_tokens.hpp"

namespace bmad_mem {

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
