// nearest.hpp - which known word somebody meant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "bmad_mem/edit_distance.hpp"

namespace bmad_mem {

/// Whether `word` may be a slip of the pen for `known`: at most 2 edits apart, and at most one for
/// every three characters, since among words of three letters nearly all are near.
inline bool is_misspelling(std::string_view word, std::string_view known) {
  const std::size_t limit = std::min<std::size_t>(2, std::max(word.size(), known.size()) / 3);
  return edit_distance(word, known, limit) <= limit;
}

/// The one of `words` nearest to `word` that is_misspelling() takes; empty when there is none.
template <typename Words>
std::string_view nearest_word(std::string_view word, const Words& words) {
  std::string_view best;
  std::size_t best_distance = 3;
  for (const std::string_view known : words) {
    const std::size_t distance = edit_distance(word, known, 2);
    if (distance < best_distance && is_misspelling(word, known)) {
      best = known;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace bmad_mem
