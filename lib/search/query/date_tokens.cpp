#include <algorithm>
#include <array>
#include <type_traits>

#include "bmad_mem/letter_case.hpp"
#include "bmad_mem/text.hpp"
#include "date_context.hpp"
#include "query_scanner.hpp"
#include "search/analyzer.hpp"
#include "search_words.hpp"

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

/// The number that `digits` spells.
int number_of(std::string_view digits) {
  constexpr std::size_t kDigitsMax = 6;
  int value = 0;
  for (const char c : digits.size() <= kDigitsMax ? digits : std::string_view()) {
    value = 10 * value + (c - '0');
  }
  return digits.size() <= kDigitsMax ? value : -1;
}

/// In lower case and without accents, as the tables have it.
std::string plain_word(std::string_view word) {
  if (std::ranges::any_of(word, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    return fold_accents(lower_case(word));
  }
  std::string plain(word);
  std::ranges::transform(plain, plain.begin(), to_lower);
  return plain;
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

/// The token that `text` begins with; without its place.
DateToken token_at(std::string_view text) {
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
  classify(token);
  return token;
}

template <typename Value>
struct Named {
  std::string_view words;
  Value value;
};

/// The value of the row that has `word`, of a table with one word a row.
template <typename Table>
auto find_named(const Table& table, std::string_view word)
    -> std::optional<std::remove_cvref_t<decltype(table.front().value)>> {
  const auto found = std::ranges::find(table, word, [](const auto& row) { return row.words; });
  return found == table.end() ? std::nullopt : std::optional(found->value);
}

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

// In German, French and Spanish, where they are not those of English.
constexpr auto kForeignMonths = std::to_array<Named<unsigned>>({
    {"januar", 1},   {"februar", 2},    {"marz", 3},       {"maerz", 3},      {"mai", 5},
    {"juni", 6},     {"juli", 7},       {"oktober", 10},   {"dezember", 12},  {"janvier", 1},
    {"fevrier", 2},  {"mars", 3},       {"avril", 4},      {"juin", 6},       {"juillet", 7},
    {"aout", 8},     {"septembre", 9},  {"octobre", 10},   {"novembre", 11},  {"decembre", 12},
    {"enero", 1},    {"febrero", 2},    {"marzo", 3},      {"abril", 4},      {"mayo", 5},
    {"junio", 6},    {"julio", 7},      {"agosto", 8},     {"septiembre", 9}, {"setiembre", 9},
    {"octubre", 10}, {"noviembre", 11}, {"diciembre", 12},
});

// The last two are one day.
constexpr std::array<std::string_view, 8> kGermanWeekdays = {
    "sonntag", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonnabend"};

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

constexpr auto kForeignUnits = std::to_array<Named<TimeUnit>>({
    {"minuten", TimeUnit::kMinute},
    {"stunde|stunden|heure|heures|hora|horas", TimeUnit::kHour},
    {"tag|tagen|jour|jours|dia|dias", TimeUnit::kDay},
    {"woche|wochen|semaine|semaines|semana|semanas", TimeUnit::kWeek},
    {"monat|monaten|mois|mes|meses", TimeUnit::kMonth},
    {"jahr|jahren|an|ans|ano|anos", TimeUnit::kYear},
});

constexpr auto kForeignCounts = std::to_array<Named<int>>({
    {"einer|einem|un|une|una", 1},
    {"zwei|deux|dos", 2},
    {"drei|trois|tres", 3},
    {"vier|quatre|cuatro", 4},
    {"funf|cinq|cinco", 5},
    {"sechs", 6},
});

constexpr auto kCounts = std::to_array<Named<int>>({
    {"a|an|one", 1},
    {"two|couple", 2},
    {"three|few", 3},
    {"four", 4},
    {"five", 5},
    {"six", 6},
    {"seven", 7},
    {"eight", 8},
    {"nine", 9},
    {"ten", 10},
    {"eleven", 11},
    {"twelve", 12},
});

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
    DateToken token = token_at(text.substr(at));
    token.offset = at;
    token.glued = glued;
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
  if (const std::optional<unsigned> foreign = find_named(kForeignMonths, word)) {
    constexpr std::array<std::string_view, 4> kForeignOrdinary = {"mai", "mars", "marzo", "mayo"};
    return MonthWord{
        .month = std::chrono::month(*foreign),
        .is_ordinary = std::ranges::find(kForeignOrdinary, word) != kForeignOrdinary.end(),
        .is_foreign = true};
  }
  return std::nullopt;
}

std::optional<std::chrono::weekday> german_weekday(std::string_view word) {
  const auto day = std::ranges::find(kGermanWeekdays, word) - kGermanWeekdays.begin();
  return day < std::ssize(kGermanWeekdays)
             ? std::optional(std::chrono::weekday(std::min(static_cast<unsigned>(day), 6U)))
             : std::nullopt;
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

std::optional<int> count_word(std::string_view word) {
  return find_named(kOneWordRows<kCounts>, word);
}

std::optional<TimeUnit> foreign_unit(std::string_view word) {
  return find_named(kOneWordRows<kForeignUnits>, word);
}

std::optional<int> foreign_count(std::string_view word) {
  return find_named(kOneWordRows<kForeignCounts>, word);
}

bool is_counted_word(std::string_view word) { return kCountedWords.contains(word); }

bool is_numbered_word(std::string_view word) { return kNumberedWords.contains(word); }

}  // namespace bmad_mem
