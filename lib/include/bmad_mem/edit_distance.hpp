// edit_distance.hpp - how far apart two words are; what is near enough is for the caller to say.
#pragma once

#include <cstddef>
#include <string_view>

namespace bmad_mem {

/// How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b` (optimal
/// string alignment, by byte); `limit` + 1 for anything beyond `limit`, and for words of more than
/// 64 bytes: hostile input costs no more than that.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

}  // namespace bmad_mem
