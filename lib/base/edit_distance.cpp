// edit_distance.cpp - optimal string alignment of two words, in three rows of its table.
#include "bmad_mem/edit_distance.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace bmad_mem {
namespace {

constexpr std::size_t kWordSizeMax = 64;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > kWordSizeMax || b.size() > kWordSizeMax) {
    return limit + 1;
  }
  // Optimal string alignment, three rows of its table at a time.
  using Row = std::array<std::size_t, kWordSizeMax + 1>;
  Row before{};
  Row previous{};
  Row current{};
  for (std::size_t j = 0; j <= b.size(); ++j) {
    previous[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before = previous;
    previous = current;
  }
  assert(previous[b.size()] <= std::max(a.size(), b.size()));
  return std::min(previous[b.size()], limit + 1);
}

}  // namespace bmad_mem
