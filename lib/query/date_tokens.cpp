#include "date_tokens.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "blanks.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

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

/// Size of the run of letters and digits at the front of `text`.
std::size_t word_size(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size()) {
    const bool is_wide = static_cast<unsigned char>(text[size]) >= 0x80;
    if (is_wide ? blank_size(text, size) != 0 || wide_sign_size(text.substr(size)) != 0
                : !is_word_byte(text[size])) {
      break;
    }
    ++size;
  }
  return size;
}

/// The number that `digits` spells.
int number_of(std::string_view digits) {
  constexpr std::size_t kDigitsMax = 6;
  int value = 0;
  for (const char c : digits.size() <= kDigitsMax ? digits : std::string_view()) {
    value = 10 * value + (c - '0');
  }
  return digits.size() <= kDigitsMax ? value : -1;
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
  token.value = number_of(word.substr(0, digits));
}

template <typename Value>
struct Named {
  std::string_view name;
  Value value;
};

template <typename Table>
auto find_named(const Table& table, std::string_view name)
    -> std::optional<decltype(table.front().value)> {
  const auto found = std::ranges::find(table, name, [](const auto& row) { return row.name; });
  return found == table.end() ? std::nullopt : std::optional(found->value);
}

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

constexpr std::array<std::string_view, 7> kWeekdays = {"sunday",   "monday", "tuesday", "wednesday",
                                                       "thursday", "friday", "saturday"};

constexpr std::array<Named<Season>, 5> kSeasons = {{
    {"spring", Season::kSpring},
    {"summer", Season::kSummer},
    {"autumn", Season::kAutumn},
    {"fall", Season::kAutumn},
    {"winter", Season::kWinter},
}};

constexpr std::array<Named<TimeUnit>, 6> kUnits = {{
    {"minute", TimeUnit::kMinute},
    {"hour", TimeUnit::kHour},
    {"day", TimeUnit::kDay},
    {"week", TimeUnit::kWeek},
    {"month", TimeUnit::kMonth},
    {"year", TimeUnit::kYear},
}};

constexpr std::array<Named<int>, 16> kCounts = {{
    {"a", 1},
    {"an", 1},
    {"one", 1},
    {"two", 2},
    {"three", 3},
    {"four", 4},
    {"five", 5},
    {"six", 6},
    {"seven", 7},
    {"eight", 8},
    {"nine", 9},
    {"ten", 10},
    {"eleven", 11},
    {"twelve", 12},
    {"few", 3},
    {"couple", 2},
}};

constexpr std::array<std::string_view, 38> kCounted = {
    "bytes",     "calls",        "characters", "chars",      "commits", "connections", "dollars",
    "documents", "edges",        "entries",    "errors",     "euros",   "events",      "feet",
    "files",     "items",        "keys",       "kilometers", "lines",   "messages",    "meters",
    "miles",     "milliseconds", "ms",         "nodes",      "people",  "points",      "queries",
    "records",   "requests",     "rows",       "seconds",    "steps",   "tests",       "times",
    "tokens",    "users",        "words"};

constexpr std::array<std::string_view, 16> kNumbered = {
    "chapter", "code", "error", "id",  "issue", "line",   "number", "office",
    "page",    "port", "pr",    "rfc", "room",  "server", "studio", "windows"};

}  // namespace

std::vector<DateToken> date_tokens(std::string_view text) {
  std::vector<DateToken> tokens;
  bool glued = false;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t blank = blank_size(text, at)) {
      at += blank;
      glued = false;
      continue;
    }
    DateToken token;
    const std::size_t letters = word_size(text.substr(at));
    const std::size_t sign = std::max<std::size_t>(1, wide_sign_size(text.substr(at)));
    token.kind = letters == 0 ? DateTokenKind::kSign : DateTokenKind::kWord;
    token.size = letters == 0 ? sign : letters;
    token.offset = at;
    token.glued = glued;
    token.capital = is_upper(text[at]);
    token.word = text.substr(at, token.size);
    std::ranges::transform(token.word, token.word.begin(), to_lower);
    classify(token);
    at += token.size;
    glued = true;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::optional<MonthWord> month_word(std::string_view word) {
  constexpr std::size_t kShortSize = 3;
  constexpr std::array<std::string_view, 6> kOrdinary = {"may", "march", "mar",
                                                         "jan", "sep",   "dec"};
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    const bool is_full = word == kMonths[i];
    if (is_full || word == kMonths[i].substr(0, kShortSize) || (i == 8 && word == "sept")) {
      return MonthWord{.month = std::chrono::month(static_cast<unsigned>(i + 1)),
                       .is_short = !is_full,
                       .is_ordinary = std::ranges::find(kOrdinary, word) != kOrdinary.end()};
    }
  }
  return std::nullopt;
}

std::optional<std::chrono::weekday> weekday_word(std::string_view word) {
  constexpr std::size_t kShortSize = 3;
  for (std::size_t i = 0; i < kWeekdays.size(); ++i) {
    if (word == kWeekdays[i] || (word.size() <= kShortSize + 2 && word.size() >= kShortSize &&
                                 kWeekdays[i].starts_with(word))) {
      return std::chrono::weekday(static_cast<unsigned>(i));
    }
  }
  return std::nullopt;
}

std::optional<Season> season_word(std::string_view word) { return find_named(kSeasons, word); }

std::optional<TimeUnit> unit_word(std::string_view word) {
  return find_named(kUnits, word.ends_with('s') ? word.substr(0, word.size() - 1) : word);
}

std::optional<int> count_word(std::string_view word) { return find_named(kCounts, word); }

bool is_counted_word(std::string_view word) {
  return std::ranges::find(kCounted, word) != kCounted.end();
}

bool is_numbered_word(std::string_view word) {
  return std::ranges::find(kNumbered, word) != kNumbered.end();
}

}  // namespace bmad_mem
