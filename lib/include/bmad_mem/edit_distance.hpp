// edit_distance.hpp - how far apart two words are; what is near enough is for the caller to say.
#pragma once

#include <cstddef>
#include <string_view>

namespace bmad_mem {

/// How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b` (optimal
/// string alignment, by byte); `limit` + 1 for anything beyond `limit`, and for words of more than
/// 64 bytes: hostile input costs no more than that.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// The first of `words` that is nearest to `word`, of those at most `limit_of(known)` apart from
/// it; empty when there is none.
template <typename Words, typename LimitOf>
std::string_view nearest_of(std::string_view word, const Words& words, const LimitOf& limit_of) {
  std::string_view nearest;
  std::size_t nearest_distance = std::string_view::npos;
  for (const std::string_view known : words) {
    const std::size_t limit = limit_of(known);
    const std::size_t distance = edit_distance(word, known, limit);
    if (distance < nearest_distance && distance <= limit) {
      nearest = known;
      nearest_distance = distance;
    }
  }
  return nearest;
}

}  // namespace bmad_mem
