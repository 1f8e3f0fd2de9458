#include "date_context.hpp"

#include <algorithm>

#include "search/analyzer.hpp"

namespace bmad_mem {

const DateToken& DateContext::token(std::size_t i) const {
  static const DateToken kNone;
  return i < tokens_.size() ? tokens_[i] : kNone;
}

bool DateContext::is_any(std::size_t i, std::initializer_list<std::string_view> words) const {
  return std::ranges::find(words, std::string_view(token(i).word)) != words.end();
}

bool DateContext::is_sign(std::size_t i, std::string_view sign) const {
  return token(i).kind == DateTokenKind::kSign && token(i).is(sign);
}

bool DateContext::starts_apart(std::size_t i) const {
  if (!token(i).glued) {
    return true;
  }
  if (is_sign(i - 1, "-")) {
    return is_any(i - 2, {"mid", "early", "late"});
  }
  return !is_any(i - 1, {".", "/", "\\", "_", ":", "#", "$", "%", "@", "+", "=", "~", "'"});
}

bool DateContext::ends_apart(std::size_t i) const {
  if (!token(i + 1).glued) {
    return true;
  }
  if (is_any(i + 1, {"-", "/", "\\", "_", "#", "$", "%", "@", "+", "=", "~", "(", "<", "*"})) {
    return false;
  }
  const bool binds = is_any(i + 1, {".", ":", ","});
  return !binds || !token(i + 2).glued || token(i + 2).kind == DateTokenKind::kSign;
}

bool DateContext::ends_phrase(std::size_t i) const {
  const DateToken& next = token(i + 1);
  return ends_apart(i) && (next.kind == DateTokenKind::kEnd || next.kind == DateTokenKind::kSign ||
                           is_stop_word(next.word));
}

bool DateContext::is_day_cue(std::size_t i) const {
  return is_any(i,
                {"on",   "since", "until", "before", "after", "by",  "from", "am", "vom", "bis",
                 "seit", "ab",    "zum",   "den",    "dem",   "der", "le",   "du", "el",  "del"});
}

std::size_t DateContext::cue_before(std::size_t i) const {
  std::size_t cue = i - 1;
  while (is_any(cue, {"the", "early", "late", "mid", "middle", "end", "beginning", "start", "-",
                      "der", "dem", "den", "le", "la", "el"})) {
    --cue;
  }
  return cue;
}

bool DateContext::is_year(std::size_t i) const {
  constexpr std::size_t kDigits = 4;
  constexpr int kMin = 1900;
  constexpr int kMax = 2199;
  // A log writes 07/May/2023:10:05:23.
  return token(i).kind == DateTokenKind::kNumber && token(i).size == kDigits &&
         token(i).value >= kMin && token(i).value <= kMax &&
         (ends_apart(i) || is_sign(i + 1, ":")) && !is_counted_word(token(i + 1).word);
}

std::chrono::year DateContext::year_at(std::size_t i) const {
  return std::chrono::year(token(i).value);
}

std::optional<std::size_t> DateContext::year_behind(std::size_t last) const {
  std::size_t i = last + 1;
  const bool must_touch = is_any(i, {"-", "/"});
  if (must_touch && !(token(i).glued && token(i + 1).glued)) {
    return std::nullopt;
  }
  i += must_touch || is_any(i, {",", "of", "de", "del"}) ? 1U : 0U;
  return is_year(i) ? std::optional(i) : std::nullopt;
}

std::optional<std::chrono::year> DateContext::shared_year(std::size_t last) const {
  if (!is_any(last + 1, {"and", "or", "to", "through", "until", "till", "-", "–"})) {
    return std::nullopt;
  }
  const std::size_t i = last + (is_any(last + 2, {"the"}) ? 3 : 2);
  std::size_t end = i;
  if (month_word(token(i).word)) {
    end += is_day_number(i + 1) ? 1U : 0U;
  } else if (is_day_number(i)) {
    end += is_any(i + 1, {"of"}) ? 2U : 1U;
    if (!month_word(token(end).word)) {
      return std::nullopt;
    }
  } else {
    return std::nullopt;
  }
  const std::optional<std::size_t> year = year_behind(end);
  return year ? std::optional(year_at(*year)) : std::nullopt;
}

std::string_view DateContext::language() const {
  std::vector<std::string> words;
  for (const DateToken& token : tokens_) {
    words.push_back(token.word);
  }
  return language_of(words, "english");
}

std::optional<FoundDate> first_form(const DateContext& dates, std::size_t i,
                                    std::initializer_list<DateForm> forms) {
  for (const DateForm form : forms) {
    if (std::optional<FoundDate> found = form(dates, i)) {
      return found;
    }
  }
  return std::nullopt;
}

bool DateContext::is_day_number(std::size_t i) const {
  constexpr std::size_t kDigitsMax = 2;
  const DateToken& day = token(i);
  const bool is_number = day.kind == DateTokenKind::kNumber && day.size <= kDigitsMax;
  return (is_number || day.kind == DateTokenKind::kOrdinal) && day.value >= 1 && day.value <= 31;
}

}  // namespace bmad_mem
