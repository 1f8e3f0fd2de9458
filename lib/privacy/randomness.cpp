// randomness.cpp - measures whether a text was drawn at random or written by a person.
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>

#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "privacy_tables.hpp"
#include "privacy_words.hpp"

namespace bmad_mem {
namespace {

/// Costs are in quarters of a bit: -4 log2 P. Both tables were counted in 275 000 different names
/// and words of the headers, the Python and JavaScript sources and the documents of a Debian
/// system.
constexpr double kCostsPerBit = 4;

/// The rows of tables/letters.txt, each with its '\n'.
constexpr std::string_view kLetterCosts = kLettersTable.substr(1);
constexpr std::size_t kLetterCount = 26;
constexpr std::size_t kWordBegin = kLetterCount;
static_assert(kLetterCosts.size() == (kLetterCount + 1) * (kLetterCount + 1));

/// Cost of a class after a class; last row: at the beginning of the text.
enum Class : std::size_t { kLower, kUpper, kDigit, kSymbol, kClassCount };
constexpr std::size_t kTextBegin = kClassCount;
constexpr std::array<std::array<int, kClassCount>, kClassCount + 1> kClassCosts = {{
    {{1, 21, 25, 13}},
    {{13, 2, 22, 11}},
    {{13, 17, 3, 9}},
    {{4, 6, 19, 14}},
    {{3, 6, 16, 18}},
}};

/// Of a digit among 10, and of a symbol among those that names have.
constexpr int kDigitCost = 13;
constexpr int kSymbolCost = 8;
constexpr unsigned kSymbolCount = 8;

Class class_of(char c) {
  return is_lower(c) ? kLower : is_upper(c) ? kUpper : is_digit(c) ? kDigit : kSymbol;
}

/// How many characters the alphabet has from which `value` would have been drawn.
double alphabet_size(const std::array<bool, kClassCount>& has, bool is_hex) {
  if (is_hex) {
    return 16;
  }
  return (has[kLower] ? 26 : 0) + (has[kUpper] ? 26 : 0) + (has[kDigit] ? 10 : 0) +
         (has[kSymbol] ? kSymbolCount : 0);
}

/// Whether `value` tells what others have to look like: a regular expression.
bool is_pattern(std::string_view value) {
  return value.contains("\\d{") || value.contains("[^") ||
         kPatternParts.any([&](std::string_view part) { return value.contains(part); });
}

/// Whether `value` has bytes as source code writes them: `\x63\x6c`.
bool has_byte_escapes(std::string_view value) {
  const std::size_t first = value.find("\\x");
  return first != std::string_view::npos && value.find("\\x", first + 1) != std::string_view::npos;
}

/// Names and what code joins them with: "Name.Class", "&pass;", "certs[0][2],".
bool is_joined_names(std::string_view value) {
  while (!value.empty() && std::string_view("&*!@$").contains(value.front())) {
    value.remove_prefix(1);
  }
  while (!value.empty() && std::string_view(";,)").contains(value.back())) {
    value.remove_suffix(1);
  }
  return std::ranges::all_of(
             value,
             [](char c) { return is_word_byte(c) || std::string_view(".:->[]()").contains(c); }) &&
         (randomness_bits(value) < kRandomBits || std::ranges::none_of(value, is_digit));
}

}  // namespace

double randomness_bits(std::string_view value) {
  int cost = 0;
  std::array<bool, kClassCount> has = {};
  bool is_hex = true;
  std::size_t previous = kTextBegin;
  std::size_t row = kWordBegin;
  for (const char c : value) {
    const Class each = class_of(c);
    has[each] = true;
    is_hex = is_hex && is_hex_digit(c);
    cost += kClassCosts[previous][each];
    if (each == kLower || each == kUpper) {
      const auto letter = static_cast<std::size_t>(to_lower(c) - 'a');
      assert(letter < kLetterCount);
      const bool begins_word = previous == kLower && each == kUpper;
      cost += kLetterCosts[(begins_word ? kWordBegin : row) * (kLetterCount + 1) + letter] - '0';
      row = letter;
    } else {
      cost += each == kDigit ? kDigitCost : kSymbolCost;
      row = kWordBegin;
    }
    previous = each;
  }
  if (value.empty()) {
    return 0;
  }
  assert(alphabet_size(has, is_hex) > 1 && "else its logarithm is no number of bits");
  return (cost / kCostsPerBit) -
         (static_cast<double>(value.size()) * std::log2(alphabet_size(has, is_hex)));
}

double shannon_entropy(std::string_view text) {
  std::array<std::size_t, 256> counts{};
  for (const char c : text) {
    ++counts[static_cast<unsigned char>(c)];
  }
  double entropy = 0;
  for (const std::size_t count : counts) {
    if (count > 0) {
      const double share = static_cast<double>(count) / static_cast<double>(text.size());
      entropy -= share * std::log2(share);
    }
  }
  assert(entropy >= 0 && entropy < 8.001);
  return entropy;
}

Shape shape_of(std::string_view value) {
  std::array<std::size_t, kClassCount> counts = {};
  std::size_t turns = 0;
  Class last = kClassCount;
  for (const char c : value) {
    const Class each = class_of(c);
    if (each != kSymbol) {
      ++counts[each];
      turns += last != kClassCount && each != last ? 1U : 0U;
      last = each;
    }
  }
  return {
      .lower = counts[kLower], .upper = counts[kUpper], .digits = counts[kDigit], .turns = turns};
}

bool looks_random(std::string_view value) {
  // A key of letters and digits turns at 6 of 10 places, a hexadecimal one at 4 to 5, camelCase at
  // 3, words with a number behind at 1. Longer values tell nothing that their begin does not.
  constexpr std::size_t kEnough = 256;
  constexpr std::size_t kSizeMin = 16;
  constexpr double kEntropyMin = 3.0;
  if (value.size() < kSizeMin) {
    return false;
  }
  value = value.substr(0, kEnough);
  const Shape shape = shape_of(value);
  const bool turns_often = shape.digits > 0
                               ? shape.turns * 5 >= value.size()
                               : shape.upper > 0 && shape.turns * 5 >= value.size() * 2;
  return turns_often && shannon_entropy(value) >= kEntropyMin;
}

bool is_scrambled(std::string_view value) {
  // Of random texts of 16 printable characters 98 in 100 are so. The next kind of a character is
  // another one in 72 of 100 cases; letters that could be a word are five or fewer.
  constexpr std::size_t kSizeMin = 8;
  constexpr std::size_t kEnough = 256;
  constexpr std::size_t kWordMax = 5;
  if (value.size() < kSizeMin) {
    return false;
  }
  value = value.substr(0, kEnough);
  std::array<std::size_t, kClassCount> counts = {};
  std::size_t turns = 0;
  std::size_t word = 0;
  Class previous = kClassCount;
  for (const char c : value) {
    if (c <= ' ' || c > '~') {
      return false;
    }
    const Class each = class_of(c);
    ++counts[each];
    turns += previous != kClassCount && each != previous ? 1U : 0U;
    // "Word", "WORD" and "word" are words, "wOrD" is none.
    const bool goes_on = each == previous || (each == kLower && previous == kUpper && word == 1);
    word = each == kLower || each == kUpper ? (goes_on ? word + 1 : 1) : 0;
    if (word > kWordMax) {
      return false;
    }
    previous = each;
  }
  const std::size_t kinds = static_cast<std::size_t>(
      std::ranges::count_if(counts, [](std::size_t count) { return count > 0; }));
  return counts[kSymbol] > 0 && kinds >= 3 && turns * 3 >= value.size() && !is_pattern(value) &&
         !has_byte_escapes(value) && !is_joined_names(value);
}

}  // namespace bmad_mem
