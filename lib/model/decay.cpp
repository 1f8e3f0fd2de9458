#include "model/decay.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bmad_mem {

DecaySettings DecaySettings::defaults() {
  DecaySettings settings;
  for (const EntryType type : kEntryTypes) {
    settings.rates_per_day[static_cast<std::size_t>(type)] =
        entry_type_info(type).decay_rate_per_day;
  }
  return settings;
}

double effective_decay(const DecaySettings& settings, const DecayInput& input, Timestamp now) {
  constexpr double kImportanceBoost = 0.2;
  if (!settings.enabled || input.pinned) {
    return 1;
  }
  using Days = std::chrono::duration<double, std::ratio<86400>>;
  const double days = std::max(0.0, Days(now - input.timestamp).count());
  const double rate = settings.rates_per_day[static_cast<std::size_t>(input.type)];
  const double factor =
      input.initial_factor * std::exp(-rate * days) * (1 + kImportanceBoost * input.importance);
  return std::clamp(factor, settings.minimum_factor, 1.0);
}

}  // namespace bmad_mem
