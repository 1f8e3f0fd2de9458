// decay.hpp - how much an entry still counts after a while. Two models, one signature.
//
//   exponential   initial x e^(-rate x days) x (1 + 0.1 accesses + 0.2 importance)
//   priority      initial x base x e^(-rate x days since access) x e^(-0.01 x days) + boost,
//                 boost = min(0.2, 0.01 accesses)
//
// Both between a floor and 1. The first is specification 6.1 with rates per day
// (docs/decisions/0002), the second that of session-memory-smp, 4.1 and 4.2. A pure function of the
// entry, the settings and the time: nothing is written to make it true. docs/how-it-works.md has
// the numbers, docs/decisions/0025 the choices that are ours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

enum class DecayModel : std::uint8_t { kExponential, kPriority };

/// "exponential" or "priority": as in the config.
std::string_view decay_model_name(DecayModel model);

/// What the priority model knows of a type: the table of session-memory-smp, 4.2.
struct PriorityRule {
  double base = 1;
  double rate_per_day = 0.05;
  double floor = 0.1;
};

/// Fixed by the specification, so not part of the settings.
const PriorityRule& priority_rule(EntryType type);

struct DecaySettings {
  bool enabled = true;  ///< Off: every factor is 1.
  DecayModel model = DecayModel::kExponential;
  /// The floor of the exponential model; the priority model's floors are at least this.
  double minimum_factor = 0.1;
  /// In the order of the enum; the exponential model's.
  std::array<double, kEntryTypeCount> rates_per_day{};

  /// The rates of EntryTypeInfo.
  static DecaySettings defaults();
};

/// What of an entry decay depends on.
struct DecayInput {
  EntryType type = EntryType::kConversation;
  Timestamp timestamp{};
  double initial_factor = 1;  ///< EntryHead::decay_factor.
  double importance = 0.5;    ///< importance_of(). The priority model doesn't look at it.
  bool pinned = false;        ///< Pinned entries don't decay.
  std::uint64_t access_count = 0;
  /// Earlier than `timestamp`, or absent: the entry counts as accessed when it was made.
  std::optional<Timestamp> last_accessed = {};
};

/// Accesses beyond this many count for nothing in the exponential model. Without a bound an old
/// entry that was returned a hundred times would count eleven times its age's due and bury whatever
/// is new; with it, accesses are worth half as much again and no more. The priority model's own
/// bound is 20.
inline constexpr std::uint64_t kCountedAccessesMax = 5;

/// The days from one to the other; 0 when that is earlier.
double days_between(Timestamp from, Timestamp to);

/// The factor at `now`, between the floor and 1. Entries from the future don't decay.
double effective_decay(const DecaySettings& settings, const DecayInput& input, Timestamp now);

/// A line for each model and type, for an entry with the type's importance that was never accessed:
/// those of the exponential model first, types in the order of the enum.
std::vector<DecayTableLine> decay_table(const DecaySettings& settings);

/// `entry`'s line with the factor of now written down: `decay_factor` (four decimals) and
/// `last_decay_update`. What the entry began with is kept as `initial_decay_factor` unless that is
/// 1, so that the next reader starts from there and doesn't decay it twice. Every other member
/// keeps its bytes. The same factor and time give the same line again.
/// `text` is what `entry` was parsed from. `factor`: effective_decay(), from 0 to 1.
/// Errors: E_INVALID_FORMAT when `entry` is no object; E_SIZE_LIMIT when the line would become
/// longer than kEntrySizeMax.
Result<std::string> with_decay_snapshot(JsonValue entry, std::string_view text, double factor,
                                        Timestamp now);

}  // namespace bmad_mem
