#include "nearest.hpp"

#include <algorithm>

namespace bmad_mem {

bool is_misspelling(std::string_view word, std::string_view known) {
  const std::size_t limit = std::min<std::size_t>(2, std::max(word.size(), known.size()) / 3);
  return edit_distance(word, known, limit) <= limit;
}

}  // namespace bmad_mem
