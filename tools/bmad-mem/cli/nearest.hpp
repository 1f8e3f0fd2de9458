// nearest.hpp - which known word somebody meant.
#pragma once

#include <span>
#include <string_view>

namespace bmad_mem::cli {

/// The one of `words` that is at most a third of its letters away from `word` (insertions,
/// deletions, replacements, swaps of neighbours; 3 at most), or that `word` is the beginning of.
/// Empty when there is none.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words);

}  // namespace bmad_mem::cli
