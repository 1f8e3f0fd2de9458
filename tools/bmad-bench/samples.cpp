#include "samples.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bmad_mem::bench {
namespace {

/// Between two values, in proportion. `sorted` is ascending and not empty.
double percentile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - std::floor(position));
}

}  // namespace

Summary summarize(std::vector<double> values) {
  assert(!values.empty());
  std::ranges::sort(values);
  return {.median = percentile(values, 0.5),
          .low = percentile(values, 0.1),
          .high = percentile(values, 0.9),
          .count = values.size()};
}

Summary single(double value) { return {.median = value, .low = value, .high = value, .count = 1}; }

}  // namespace bmad_mem::bench
