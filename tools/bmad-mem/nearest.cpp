#include "nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kWordSizeMax = 40;
constexpr std::size_t kDistanceMax = 3;
/// From how many letters on a beginning is taken for the whole word.
constexpr std::size_t kBeginningSizeMin = 3;

/// How many edits turn `a` into `b`. Three rows of the table at a time.
std::size_t distance_between(std::string_view a, std::string_view b) {
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
  return previous[b.size()];
}

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words) {
  std::string_view best;
  std::size_t best_distance = kDistanceMax + 1;
  if (word.size() > kWordSizeMax) {
    return best;
  }
  for (const std::string_view known : words) {
    if (known.size() > kWordSizeMax) {
      continue;
    }
    std::size_t distance = distance_between(word, known);
    if (word.size() >= kBeginningSizeMin && known.starts_with(word)) {
      distance = std::min<std::size_t>(distance, 1);
    }
    const std::size_t limit = std::max<std::size_t>(std::max(word.size(), known.size()) / 3, 1);
    if (distance < best_distance && distance <= limit) {
      best = known;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace bmad_mem::cli
