// decay.hpp - how much an entry still counts after a while.
//
//   factor(t) = initial x e^(-rate x days) x (1 + 0.2 importance), between the floor and 1
//
// Specification 6.1, with rates per day (docs/decisions/0002). A pure function of the entry, the
// settings and the time: nothing is written to make it true.
#pragma once

#include <array>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"

namespace bmad_mem {

struct DecaySettings {
  bool enabled = true;  ///< Off: every factor is 1.
  double minimum_factor = 0.1;
  std::array<double, kEntryTypeCount> rates_per_day{};  ///< In the order of the enum.

  /// The rates of EntryTypeInfo.
  static DecaySettings defaults();
};

/// What of an entry decay depends on.
struct DecayInput {
  EntryType type = EntryType::kConversation;
  Timestamp timestamp{};
  double initial_factor = 1;  ///< decay_factor as written.
  double importance = 0.5;    ///< entry_importance().
  bool pinned = false;        ///< Pinned entries don't decay.
};

/// The factor at `now`, in [minimum_factor, 1]. Entries from the future don't decay.
double effective_decay(const DecaySettings& settings, const DecayInput& input, Timestamp now);

}  // namespace bmad_mem
