// edit_matcher.cpp - the distance of two words in edits, within a bound.
#include "search/edit_matcher.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace bmad_mem {
namespace {

/// The code point at the front of `text`, which is not empty, and how many bytes it takes. A byte
/// that starts no sequence stands for itself, beyond Unicode, so that it equals no letter.
struct CodePoint {
  char32_t value;
  std::size_t size;
};

CodePoint first_code_point(std::string_view text) {
  assert(!text.empty());
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0x80   ? 1
                           : lead < 0xC0 ? 0
                           : lead < 0xE0 ? 2
                           : lead < 0xF0 ? 3
                                         : 4;
  char32_t value = size == 1 ? lead : lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const unsigned byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    if ((byte & 0xC0U) != 0x80U) {
      return {.value = 0x110000U + lead, .size = 1};
    }
    value = (value << 6U) | (byte & 0x3FU);
  }
  return size == 0 ? CodePoint{.value = 0x110000U + lead, .size = 1}
                   : CodePoint{.value = value, .size = size};
}

std::size_t letter_count_of(std::string_view word) {
  std::size_t count = 0;
  for (; !word.empty(); ++count) {
    word.remove_prefix(first_code_point(word).size);
  }
  return count;
}

/// How many edits `word~` allows for a word of so many letters: none below 3, one for 3 to 5, else
/// two. Among words of two letters nearly all are near.
std::size_t fuzzy_bound(std::size_t letter_count) {
  return letter_count < 3 ? 0 : letter_count <= 5 ? 1 : 2;
}

}  // namespace

EditMatcher::EditMatcher(std::string_view word, std::size_t bound) : bound_(bound) {
  assert(bound <= kEditBoundMax);
  decode(word, kEditLettersMax, letters_);
}

EditMatcher::EditMatcher(std::string_view word)
    : EditMatcher(word, fuzzy_bound(letter_count_of(word))) {}

void EditMatcher::decode(std::string_view word, std::size_t count_max, Letters& letters) {
  while (!word.empty()) {
    if (letters.count == count_max) {
      letters.count = kEditLettersMax + 1;
      return;
    }
    assert(letters.count < kEditLettersMax);
    const CodePoint letter = first_code_point(word);
    letters.code_points[letters.count++] = letter.value;
    letters.seen |= std::uint64_t{1} << (letter.value % 64U);
    word.remove_prefix(letter.size);
  }
}

std::size_t EditMatcher::distance(std::string_view other) const {
  // A letter takes one to four bytes, so that most lengths are ruled out before decoding.
  if (letters_.count > kEditLettersMax || other.size() + bound_ < letters_.count ||
      other.size() > 4 * (letters_.count + bound_)) {
    return bound_ + 1;
  }
  Letters decoded;
  decode(other, std::min(kEditLettersMax, letters_.count + bound_), decoded);
  if (decoded.count > kEditLettersMax || decoded.count + bound_ < letters_.count) {
    return bound_ + 1;
  }
  // One edit takes at most one letter out of the set and puts at most one into it.
  const auto changed = static_cast<std::size_t>(std::popcount(letters_.seen ^ decoded.seen));
  return changed > 2 * bound_ ? bound_ + 1 : banded_distance(decoded);
}

// Only cells within `bound_` of the diagonal can hold a distance within the bound; all others are
// far. An edit sequence with a swap around an inserted or a deleted letter costs at least 2, so
// that within kEditBoundMax the general swap of Lowrance and Wagner has the three forms below.
std::size_t EditMatcher::banded_distance(const Letters& other) const {
  static_assert(kEditBoundMax == 2);
  assert(letters_.count <= kEditLettersMax && other.count <= kEditLettersMax);
  constexpr std::size_t kFar = kEditBoundMax + 1;
  constexpr std::size_t kRows = 4;
  std::array<std::array<std::uint8_t, kEditLettersMax + 1>, kRows> rows;  // Row i at i % kRows.
  const auto& a = letters_.code_points;
  const auto& b = other.code_points;
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t {
    return i > j + bound_ || j > i + bound_ ? kFar : rows[i % kRows][j];
  };
  for (std::size_t i = 0; i <= letters_.count; ++i) {
    const std::size_t first = i > bound_ ? i - bound_ : 0;
    const std::size_t last = std::min(other.count, i + bound_);
    std::size_t best_of_row = kFar;
    for (std::size_t j = first; j <= last; ++j) {
      std::size_t best = i == 0 || j == 0 ? i + j : kFar;
      if (i > 0 && j > 0) {
        best = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1,
                         at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1)});
      }
      if (i > 1 && j > 1 && a[i - 2] == b[j - 1] && a[i - 1] == b[j - 2]) {
        best = std::min(best, at(i - 2, j - 2) + 1);
      }
      if (i > 2 && j > 1 && a[i - 3] == b[j - 1] && a[i - 1] == b[j - 2]) {
        best = std::min(best, at(i - 3, j - 2) + 2);
      }
      if (i > 1 && j > 2 && a[i - 2] == b[j - 1] && a[i - 1] == b[j - 3]) {
        best = std::min(best, at(i - 2, j - 3) + 2);
      }
      rows[i % kRows][j] = static_cast<std::uint8_t>(std::min(best, kFar));
      best_of_row = std::min(best_of_row, best);
    }
    // Every way to the end passes this row, or jumps over it at no less than it costs to pass.
    if (best_of_row > bound_) {
      return bound_ + 1;
    }
  }
  return std::min(at(letters_.count, other.count), bound_ + 1);
}

}  // namespace bmad_mem
