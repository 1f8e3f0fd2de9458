// date_grammar.cpp - reads the lines of dates.txt, and cuts a text into words, numbers and signs.
#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <ranges>

#include "bmad_mem/text.hpp"
#include "date_forms.hpp"
#include "query_scanner.hpp"
#include "search/analyzer.hpp"

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

}  // namespace bmad_mem
