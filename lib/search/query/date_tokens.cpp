// date_tokens.cpp - a text as the words, numbers and signs that dates are made of.
#include <algorithm>

#include "bmad_mem/letter_case.hpp"
#include "bmad_mem/text.hpp"
#include "date_forms.hpp"
#include "query_scanner.hpp"
#include "search/analyzer.hpp"

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

}  // namespace bmad_mem
