#include "relevance.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bmad_mem {
namespace {

constexpr double kNeverAccessed = 0.5;

}  // namespace

Relevance::Relevance(const Query& query, const SearchSettings& settings, bool names_time)
    : settings_(settings),
      weights_(query.weights.value_or(settings.weights)),
      ignores_age_(names_time) {
  for (std::size_t i = 0; i < kClassCount; ++i) {
    const std::uint32_t flags = flags_of(i);
    importance_and_access_[i] = weights_.importance * flag_importance(flags) +
                                weights_.access * ((flags & kFlagOdd) != 0 ? 1 : kNeverAccessed);
  }
}

RelevanceComponents Relevance::components(double text, std::uint32_t flags, Timestamp time,
                                          const OddEntry* odd) const {
  return {.text = text,
          .time = ignores_age_ ? 1 : time_factor(flags, time, odd),
          .importance = flag_importance(flags),
          .access = access(odd)};
}

double Relevance::time_factor(std::uint32_t flags, Timestamp time, const OddEntry* odd) const {
  return effective_decay(settings_.decay,
                         {.type = flag_type(flags),
                          .timestamp = time,
                          .initial_factor = odd == nullptr ? 1 : odd->decay_factor,
                          .importance = flag_importance(flags),
                          .pinned = (flags & kFlagPinned) != 0},
                         settings_.now);
}

double Relevance::access(const OddEntry* odd) const {
  constexpr double kRatePerHour = 0.05;
  if (odd == nullptr || !odd->last_accessed) {
    return kNeverAccessed;
  }
  using Hours = std::chrono::duration<double, std::ratio<3600>>;
  return std::exp(-kRatePerHour *
                  std::max(0.0, Hours(settings_.now - *odd->last_accessed).count()));
}

/// Whether no entry with these flags counts more by its time than one as new as the newest.
bool Relevance::newest_counts_most(std::uint32_t flags) const {
  // An odd entry has a factor of its own, and with a rate below 0 old entries count more.
  return !ignores_age_ && weights_.time > 0 && (flags & (kFlagOdd | kFlagPinned)) == 0 &&
         settings_.decay.rates_per_day[static_cast<std::size_t>(flag_type(flags))] >= 0;
}

RelevanceBound::RelevanceBound(const Relevance& relevance, Timestamp newest)
    : text_weight_(relevance.weights_.text) {
  for (std::size_t i = 0; i < beside_.size(); ++i) {
    const std::uint32_t flags = Relevance::flags_of(i);
    const double time =
        relevance.newest_counts_most(flags) ? relevance.time_factor(flags, newest, nullptr) : 1;
    beside_[i] =
        (relevance.importance_and_access_[i] + relevance.weights_.time * time) * kBoundSlack;
    most_beside_ = std::max(most_beside_, beside_[i]);
  }
}

}  // namespace bmad_mem
