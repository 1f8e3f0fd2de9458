#include <algorithm>
#include <chrono>
#include <cmath>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

double recall_score(double confidence, std::uint64_t access_count, Timestamp updated_at,
                    Timestamp now) {
  constexpr double kHalfBoostAccesses = 4;  // So many accesses are worth half of what is possible.
  constexpr double kNewcomerDays = 14;
  const auto accesses = static_cast<double>(access_count);
  const double popularity = accesses / (accesses + kHalfBoostAccesses);
  const std::chrono::duration<double, std::ratio<86'400>> age = now - updated_at;
  const double newness = std::exp2(-std::max(age.count(), 0.0) / kNewcomerDays);
  return confidence * (1 + std::max(popularity, newness));
}

}  // namespace bmad_mem
