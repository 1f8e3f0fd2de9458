// edit_matcher.hpp - how far a word is from another, for `word~` and for "did you mean".
//
//   caroline -> carolina   one replaced      postgers -> postgres   two neighbours swapped
//   index    -> indx       one deleted       ca       -> abc        swapped, one put between: 2
//
// Damerau-Levenshtein (Lowrance and Wagner 1975) over code points, bounded: a distance beyond the
// bound is never worked out. Threads: a matcher is read-only once built.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bmad_mem {

/// Largest bound there is: the recurrence looks back three rows, which is enough for 2 edits.
inline constexpr std::size_t kEditBoundMax = 2;

/// Longest word compared, in code points; longer ones are far from everything.
inline constexpr std::size_t kEditLettersMax = 64;

/// Compares one word with many, as a walk through a term dictionary does.
class EditMatcher {
 public:
  /// `word` is UTF-8; what is not counts as one letter a byte. `bound` is at most kEditBoundMax.
  EditMatcher(std::string_view word, std::size_t bound);

  /// As above, with the bound of `word~`: none below 3 letters, one edit for 3 to 5, else two.
  explicit EditMatcher(std::string_view word);

  /// How many edits turn the word into `other`; bound() + 1 for anything beyond bound(). Case
  /// matters. No allocation; most words are told apart by their lengths or letters alone.
  [[nodiscard]] std::size_t distance(std::string_view other) const;

  [[nodiscard]] bool matches(std::string_view other) const { return distance(other) <= bound_; }
  [[nodiscard]] std::size_t bound() const { return bound_; }
  [[nodiscard]] std::size_t letter_count() const { return letters_.count; }

 private:
  // Decoded; `count` is kEditLettersMax + 1 for a word that is too long.
  struct Letters {
    std::array<char32_t, kEditLettersMax> code_points;
    std::size_t count = 0;
    std::uint64_t seen = 0;  // One bit a code point, modulo 64.
  };
  static void decode(std::string_view word, std::size_t count_max, Letters& letters);
  [[nodiscard]] std::size_t banded_distance(const Letters& other) const;

  Letters letters_;
  std::size_t bound_;
};

}  // namespace bmad_mem
