#include "cli/nearest.hpp"

#include <algorithm>
#include <cstddef>

#include "bmad_mem/edit_distance.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kDistanceMax = 3;
/// From how many letters on a beginning is taken for the whole word.
constexpr std::size_t kBeginningSizeMin = 3;

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words) {
  std::string_view best;
  std::size_t best_distance = kDistanceMax + 1;
  for (const std::string_view known : words) {
    std::size_t distance = edit_distance(word, known, kDistanceMax);
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
