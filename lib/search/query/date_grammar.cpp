// date_grammar.cpp - reads the lines of dates.txt, cuts a text into words, numbers and signs, and
// computes the stretch of time that a form means.
#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <chrono>
#include <optional>
#include <ranges>

#include "bmad_mem/text.hpp"
#include "date_forms.hpp"
#include "query_scanner.hpp"
#include "search/analyzer.hpp"
#include "search/date_span.hpp"

namespace bmad_mem {
namespace {

// In the order of DateBuiltIn.
constexpr auto kBuiltInNames = std::to_array<std::string_view>(
    {"d",   "th",  "dd",  "mm",  "n",    "year",  "Y",     "yyyy",   "yy",   "dT",
     "cap", "two", "any", "end", "sign", "alnum", "inhan", "french", "asks", "phrase-end"});

DateTest test_of(std::string_view name, bool is_wanted) {
  return {.is_wanted = is_wanted, .built_in = built_in(name), .name = name};
}

DateElement element_of(std::string_view text) {
  DateElement element;
  element.is_filler = text == "..";
  element.is_absent = took(text, "!");
  element.is_glued = took(text, "~");
  element.is_optional = text.ends_with('?');
  text.remove_suffix(element.is_optional ? 1 : 0);
  if (text == "$") {
    element.tests.push_back(test_of("phrase-end", true));
  } else if (text.starts_with('<')) {
    assert(text.ends_with('>'));
    bool is_wanted = true;
    for (text = text.substr(1, text.size() - 2); !text.empty();) {
      const std::size_t end = std::min(text.find_first_of("+-"), text.size());
      element.tests.push_back(test_of(text.substr(0, end), is_wanted));
      is_wanted = end < text.size() && text[end] == '+';
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  } else {
    for (const auto word : std::views::split(text, '/')) {
      element.words.emplace_back(word.begin(), word.end());
    }
  }
  return element;
}

DateMeaning meaning_of(std::string_view text) {
  constexpr auto kUnits =
      std::to_array<std::string_view>({"minute", "hour", "day", "week", "month", "year"});
  DateMeaning meaning{.has_other = text.ends_with('+'), .may_bind = text.ends_with('*')};
  auto [action, rest] = parted(text.substr(0, text.find_first_of("+*")), ' ');
  meaning.action = action;
  while (!rest.empty()) {
    const auto [word, more] = parted(rest, ' ');
    const auto unit = std::ranges::find(kUnits, word);
    if (unit != kUnits.end()) {
      meaning.unit = static_cast<int>(unit - kUnits.begin());
    } else if (is_digit(word.front())) {
      meaning.count = number_in(word);
    } else {
      meaning.detail = word;
    }
    rest = more;
  }
  return meaning;
}

/// Size of the sign beyond ASCII at the front of `text`, or 0: U+00A1 to U+00BF but the three
/// letters among them, dashes, quotes and marks from U+2010 on, and those of Han from U+3001 on.
std::size_t wide_sign_size(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) == 0xC2 && byte(1) > 0xA0 && byte(1) <= 0xBF) {
    return byte(1) == 0xAA || byte(1) == 0xB5 || byte(1) == 0xBA ? 0 : 2;
  }
  const bool is_general = byte(0) == 0xE2 && (byte(1) == 0x80 || byte(1) == 0x81);
  const bool is_han = byte(0) == 0xE3 && byte(1) == 0x80;
  return is_general || is_han ? std::min<std::size_t>(3, text.size()) : 0;
}

/// Size of the character of Chinese or Japanese at the front of `text`, or 0.
std::size_t han_size(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const bool is_han = (byte(0) >= 0xE4 && byte(0) <= 0xE9) || (byte(0) == 0xE3 && byte(1) > 0x80);
  return is_han && (byte(1) & 0xC0U) == 0x80U && (byte(2) & 0xC0U) == 0x80U ? 3 : 0;
}

/// Size of the run of letters and digits at the front of `text`.
std::size_t word_size(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size()) {
    const bool is_wide = static_cast<unsigned char>(text[size]) >= 0x80;
    if (is_wide ? blank_size(text, size) != 0 || wide_sign_size(text.substr(size)) != 0 ||
                      han_size(text.substr(size)) != 0
                : !is_word_byte(text[size])) {
      break;
    }
    ++size;
  }
  return size;
}

/// In lower case and without accents, as the tables have it.
std::string plain_word(std::string_view word) {
  return std::ranges::all_of(word, is_ascii) ? lower_ascii(word) : fold_accents(lower_case(word));
}

/// Tells numbers and ordinals from words.
void classify(DateToken& token) {
  const std::string_view word = token.word;
  const std::size_t digits =
      static_cast<std::size_t>(std::ranges::find_if_not(word, is_digit) - word.begin());
  const std::string_view suffix = word.substr(digits);
  const bool is_ordinal = suffix == "st" || suffix == "nd" || suffix == "rd" || suffix == "th";
  if (digits == 0 || !(suffix.empty() || is_ordinal)) {
    return;
  }
  token.kind = is_ordinal ? DateTokenKind::kOrdinal : DateTokenKind::kNumber;
  constexpr std::size_t kDigitsMax = 6;
  token.value = digits <= kDigitsMax ? number_in<int>(word.substr(0, digits)).value_or(-1) : -1;
}

/// The token that `text` begins with; without its place.
DateToken token_at(std::string_view text) {
  assert(!text.empty());
  DateToken token;
  if (const std::size_t han = han_size(text)) {
    token = {.kind = DateTokenKind::kHan, .word = std::string(text.substr(0, han)), .size = han};
    return token;
  }
  const std::size_t letters = word_size(text);
  const std::size_t sign = std::max<std::size_t>(1, wide_sign_size(text));
  token.kind = letters == 0 ? DateTokenKind::kSign : DateTokenKind::kWord;
  token.size = letters == 0 ? sign : letters;
  token.capital = is_upper(text.front());
  token.word = text.substr(0, token.size);
  if (token.word == "’") {
    token.word = "'";
  } else if (letters != 0) {
    token.word = plain_word(token.word);
  }
  assert(token.size > 0 && token.size <= text.size() && !token.word.empty());
  classify(token);
  return token;
}

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::months;
using std::chrono::sys_days;
using std::chrono::year_month;
using std::chrono::years;

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
  assert(value >= 0 && value < 7 && "the form names a weekday");
  const std::chrono::weekday weekday(static_cast<unsigned>(value));
  return days_from(which == "this" ? calendar.monday() + (weekday - std::chrono::Monday)
                                   : calendar.latest_weekday(weekday, which == "ended"));
}

sys_days first_day(year_month month) { return month / 1; }

}  // namespace

std::optional<DateBuiltIn> built_in(std::string_view name) {
  const auto found = std::ranges::find(kBuiltInNames, name);
  return found == kBuiltInNames.end()
             ? std::nullopt
             : std::optional(static_cast<DateBuiltIn>(found - kBuiltInNames.begin()));
}

std::pair<std::string_view, std::string_view> parted(std::string_view text, char sign) {
  const std::size_t at = std::min(text.find(sign), text.size());
  std::string_view front = text.substr(0, at);
  std::string_view back = text.substr(std::min(at + 1, text.size()));
  front.remove_suffix(front.ends_with(' ') ? 1 : 0);
  back.remove_prefix(back.starts_with(' ') ? 1 : 0);
  return {front, back};
}

std::size_t first_word_size(std::string_view words) {
  assert(!words.empty());
  constexpr unsigned char kKanaLead = 0xE3;
  return static_cast<unsigned char>(words.front()) >= kKanaLead
             ? 3
             : std::min(words.find(' '), words.size());
}

int number_in(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool took(std::string_view& text, std::string_view prefix) {
  const bool is_there = text.starts_with(prefix);
  text.remove_prefix(is_there ? prefix.size() : 0);
  return is_there;
}

DateForm form_of(std::string_view text, std::string_view meaning) {
  DateForm form{.meaning = meaning_of(meaning)};
  const bool is_marked = text.contains('[');
  std::vector<DateElement>* part = is_marked ? &form.before : &form.named;
  for (const auto each : std::views::split(text, ' ')) {
    std::string_view word(each.begin(), each.end());
    if (took(word, "[")) {
      part = &form.named;
    }
    const bool is_last = word.ends_with(']');
    word.remove_suffix(is_last ? 1 : 0);
    part->push_back(element_of(word));
    if (is_last) {
      part = &form.after;
    }
  }
  assert(!form.named.empty());
  return form;
}

std::vector<DateToken> date_tokens(std::string_view text) {
  std::vector<DateToken> tokens;
  bool glued = false;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t blank = blank_size(text, at)) {
      at += blank;
      glued = false;
      continue;
    }
    DateToken token = token_at(text.substr(at));
    token.offset = at;
    token.glued = glued;
    at += token.size;
    glued = true;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::optional<TimeStretch> stretch_of(const DateMeaning& meaning, const DateParts& parts,
                                      const Calendar& calendar) {
  constexpr int kUnitsMax = 1000;     // Of units; a thousand years ago is the start.
  constexpr int kLoneYearMin = 1970;  // Without a month beside it, an earlier number is no year.
  const std::string_view action = meaning.action;
  const bool is_ended = meaning.detail == "ended";
  const int count = meaning.count >= 0 ? meaning.count : parts.count;
  const auto unit = static_cast<TimeUnit>(meaning.unit >= 0 ? meaning.unit : parts.unit);
  const std::optional<std::chrono::year> year =
      parts.year >= 0 ? std::optional(std::chrono::year(parts.year)) : std::nullopt;
  const std::chrono::month month(static_cast<unsigned>(parts.month));
  if (action == "back" || action == "upto") {
    if (count > kUnitsMax || (meaning.count < 0 && count < 1)) {
      return std::nullopt;
    }
    assert(unit <= TimeUnit::kYear && "the form names a unit");
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
    assert(parts.season >= 0 && parts.season < 4);
    const auto season = static_cast<Season>(parts.season);
    return year ? whole_season(season, *year) : calendar.latest_season(season, is_ended);
  }
  if (action == "quarter") {
    assert(year && parts.quarter >= 1 && parts.quarter <= 4);
    const std::chrono::month first(static_cast<unsigned>(3 * parts.quarter - 2));
    return months_from(*year / first, 3);
  }
  const bool is_known =
      parts.year >= kLoneYearMin && *year <= calendar.year() + std::chrono::years(1);
  return action == "year" || is_known ? std::optional(whole_year(*year)) : std::nullopt;
}

std::vector<DateSpan> find_date_spans(std::string_view text, Timestamp now) {
  const std::vector<DateToken> tokens = date_tokens(text);
  std::vector<DateSpan> spans;
  for (const FoundDate& found : find_dates(tokens, Calendar(now))) {
    const DateToken& last = tokens[found.last];
    assert(found.first <= found.last && found.stretch.begin < found.stretch.end);
    const std::size_t offset = tokens[found.first].offset;
    spans.push_back({.begin = found.stretch.begin,
                     .end = found.stretch.end,
                     .offset = offset,
                     .size = last.offset + last.size - offset});
    if (found.other) {
      spans.push_back(spans.back());
      spans.back().begin = found.other->begin;
      spans.back().end = found.other->end;
    }
  }
  return spans;
}

double date_match(Timestamp time, const DateSpan& span) {
  constexpr double kJustAfter = 0.5;
  if (time < span.begin) {
    return 0;
  }
  if (time < span.end) {
    return 1;
  }
  using Days = std::chrono::duration<double, std::chrono::days::period>;
  const double passed = Days(time - span.end) / Days(kDateEcho);
  return std::max(0.0, kJustAfter * (1 - passed));
}

TimeStretch days_from(sys_days first, int count) {
  return {.begin = first, .end = first + days(count)};
}

TimeStretch months_from(year_month first, int count) {
  assert(first.month().ok() && count > 0);
  return {.begin = first_day(first), .end = first_day(first + months(count))};
}

TimeStretch whole_year(std::chrono::year year) { return months_from(year / 1, 12); }

TimeStretch whole_season(Season season, std::chrono::year year) {
  return months_from(year / std::chrono::month(3 + 3 * static_cast<unsigned>(season)), 3);
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
  assert(day.ok() && "else no month has it");
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
  assert(count >= 0 && count <= 1000);
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
