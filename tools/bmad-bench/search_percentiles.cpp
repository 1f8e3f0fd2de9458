#include "search_percentiles.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace bmad_mem::bench {
namespace {

/// The smallest value that `share` of the values do not exceed.
double nearest_rank(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

Percentiles percentiles_of(std::vector<double> values) {
  assert(!values.empty());
  std::ranges::sort(values);
  return {.p50 = nearest_rank(values, 0.50), .p95 = nearest_rank(values, 0.95)};
}

}  // namespace bmad_mem::bench
