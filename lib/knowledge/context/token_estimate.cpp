// token_estimate.cpp - estimates how many tokens a text has, by the classes of its characters.
//
//   max_connections = 200;      words max, _, connections and number 200; signs = and ;
//
// Tokenizers of language models cut a text at the borders of such classes, and long words further
// on; what differs between them is how much of a word they know. The weights were fitted to the
// greatest of the counts of three of them (cl100k_base, o200k_base, Claude's published one), so
// that a text seldom has more tokens than estimated: docs/knowledge.md has the error.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>

#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/prompt_text.hpp"

namespace bmad_mem {
namespace {

// All weights are quarters of a token.
constexpr std::size_t kToken = 4;
constexpr std::size_t kWordKnown = 9;     // Words of up to so many letters are mostly one token.
constexpr std::size_t kLetterBeyond = 2;  // Each letter beyond.
constexpr std::size_t kCapitalBeyond = 1;
constexpr std::size_t kGlued = 2;     // A word or number right behind another one.
constexpr std::size_t kSignNext = 2;  // A sign behind another one, such as the last two of `":"`.
constexpr std::size_t kSignRepeated = 1;
constexpr std::size_t kDigitsPerToken = 3;
constexpr std::size_t kSpacesPerToken = 32;

enum class Class : std::uint8_t { kStart, kLower, kUpper, kDigit, kSpace, kNewline, kSign, kOther };

Class class_of(char c) {
  return is_lower(c)              ? Class::kLower
         : is_upper(c)            ? Class::kUpper
         : is_digit(c)            ? Class::kDigit
         : is_blank(c)            ? Class::kSpace
         : c == '\n' || c == '\r' ? Class::kNewline
         : is_ascii(c)            ? Class::kSign
                                  : Class::kOther;
}

/// What a character that is not ASCII costs: by its script.
std::size_t weight_of(char32_t c) {
  struct WeightRange {
    char32_t end;
    std::size_t weight;
  };
  static constexpr std::array<WeightRange, 10> kRanges = {{
      {0x0300, 10},    // Latin: the letter, and the word around it that is no longer known.
      {0x0400, 6},     // Marks, Greek.
      {0x0530, 2},     // Cyrillic.
      {0x0900, 4},     // Armenian, Hebrew, Arabic.
      {0x2000, 6},     // The scripts of India and South-East Asia, and others.
      {0x2C00, 11},    // Punctuation, arrows, symbols.
      {0xFE00, 5},     // Chinese, Japanese, Korean.
      {0xFE10, 11},    // Variation selectors.
      {0x10000, 6},    // Full-width forms; U+FFFD.
      {0x110000, 12},  // Emoji, rare scripts: about a token a byte.
  }};
  assert(c < kRanges.back().end && "no character of Unicode is beyond");
  return std::ranges::find_if(kRanges, [c](const WeightRange& range) { return c < range.end; })
      ->weight;
}

/// One pass over a text.
class Estimate {
 public:
  explicit Estimate(std::string_view text) : rest_(text) {}

  std::size_t run() {
    std::size_t quarters = 0;
    while (!rest_.empty()) {
      quarters += take_run();
    }
    return (quarters + kToken - 1) / kToken;
  }

 private:
  [[nodiscard]] bool follows(Class a, Class b) const { return before_ == a || before_ == b; }

  /// How many characters from `from` on are of class `kind`.
  [[nodiscard]] std::size_t size_of(Class kind, std::size_t from) const {
    std::size_t end = from;
    while (end < rest_.size() && class_of(rest_[end]) == kind) {
      ++end;
    }
    return end - from;
  }

  /// Takes the next run and returns what it costs.
  std::size_t take_run() {
    const Class kind = class_of(rest_.front());
    std::size_t size = size_of(kind, 0);
    std::size_t cost = 0;
    switch (kind) {
      case Class::kLower:
        cost = word(size) + (follows(Class::kDigit, Class::kOther) ? kGlued : 0);
        break;
      case Class::kUpper:
        return take_capitals(size);
      case Class::kDigit:
        cost = kToken * ((size + kDigitsPerToken - 1) / kDigitsPerToken) +
               (follows(Class::kStart, Class::kSpace) ? 0 : kGlued);
        break;
      case Class::kSpace:
        cost = size == 1 ? 0 : kToken * (1 + (size - 2) / kSpacesPerToken);
        break;
      case Class::kNewline:
        cost = kToken;
        break;
      case Class::kSign:
        size = std::min(rest_.find_first_not_of(rest_.front()), rest_.size());
        cost = (before_ == Class::kSign ? kSignNext : kToken) + (size - 1) * kSignRepeated;
        break;
      default: {
        const CodePoint point = first_code_point(rest_);
        size = point.size;
        cost = weight_of(point.value);
      }
    }
    take(size, kind);
    return cost;
  }

  /// "HTTPServer" is "HTTP" and "Server"; "Server" is a word with its capital.
  std::size_t take_capitals(std::size_t size) {
    const std::size_t letters = size_of(Class::kLower, size);
    const std::size_t glue = follows(Class::kLower, Class::kDigit) ? kGlued : 0;
    if (size == 1 && letters > 0) {
      const std::size_t glue_of_word = before_ == Class::kUpper ? kGlued : glue;
      take(1 + letters, Class::kLower);
      return word(1 + letters) + glue_of_word;
    }
    const std::size_t capitals = letters > 0 ? size - 1 : size;
    take(capitals, Class::kUpper);
    return kToken + (capitals - 1) * kCapitalBeyond + glue;
  }

  static std::size_t word(std::size_t letters) {
    return kToken + (letters > kWordKnown ? (letters - kWordKnown) * kLetterBeyond : 0);
  }

  void take(std::size_t size, Class kind) {
    assert(size > 0 && size <= rest_.size() && "each run moves on");
    rest_.remove_prefix(size);
    before_ = kind;
  }

  std::string_view rest_;
  Class before_ = Class::kStart;
};

}  // namespace

std::size_t estimate_tokens(std::string_view text) { return Estimate(text).run(); }

}  // namespace bmad_mem
