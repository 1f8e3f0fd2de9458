// trusted_clock.hpp - what time it is for the purpose of removing things: a clock that jumps ahead
// must never delete early.
//
//   clock    Mon   Tue   +1 year   +1 year   Wed        Thu      a battery, a virtual machine,
//   `date` trusted  Mon   Tue   Tue       Tue       Wed        Thu
//
//   clock    Mon   Tue   (machine off)   Mon   Mon evening   Tue
//   trusted  Mon   Tue                   Tue   Tue           Tue
//
// A reading up to two days beyond the last trusted one is believed. One further ahead is held back:
// it is believed when a later run, at least a day after the first sight of the jump and without a
// step backwards in between, finds the clock still going on from there. Even then only the readings
// that were held are believed; when the last step is itself too large, it is held in its turn. So a
// machine that runs maintenance once a week, or every other month, lags one run behind and still
// gets everything done.
//
// Promise: as long as each stretch of wrong readings is off by one amount, lasts less than a day
// and is followed by a right reading, the trusted time is never more than two days ahead of the
// true one. What no function of clock readings can tell from a machine that is seldom on is a clock
// set wrong twice, a day to half a year apart, with no right reading between.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "bmad_mem/clock.hpp"

namespace bmad_mem {

/// The furthest step that is believed at once: twice the day between two runs of maintenance.
inline constexpr std::chrono::hours kTrustedStepMax{48};
/// How long a jump must last before it is believed. Wrong clocks are noticed within a day.
inline constexpr std::chrono::hours kHoldMin{24};
/// After a longer silence a held reading says nothing: the hold begins again. A project that is
/// visited twice a year ages still, and a clock that is set to another year twice is not believed.
inline constexpr std::chrono::days kHeldSilenceMax{200};
/// After a longer silence the graces of deletions begin again.
inline constexpr std::chrono::days kSilenceMax{31};

/// What is remembered from run to run. All absent: nothing is known, so the first reading is held.
struct ClockState {
  std::optional<Timestamp> last_seen;   ///< The last trusted time.
  std::optional<Timestamp> held_since;  ///< The first sight of a jump that isn't believed yet.
  std::optional<Timestamp> held_last;   ///< The last sight of it; there when held_since is.

  friend bool operator==(const ClockState&, const ClockState&) = default;
};

struct TrustedTime {
  /// What to compare expiry times with: at most the clock's time; 1970, before which nothing
  /// expires, when no reading was ever trusted.
  Timestamp time{};
  bool is_held = false;  ///< The clock is ahead of `time`, and isn't believed yet.
  ClockState state;      ///< To be stored for the next run.
};

/// Takes in the reading `now`.
TrustedTime advance_clock(const ClockState& state, Timestamp now);

/// What was deleted can be brought back for a while. The clock at the deletion may have been years
/// behind or ahead, so each deletion counts from the first run that saw it: by id, since when.
///
///   clock at the deletion   between the last run and this one    years behind    years ahead
///   counts from             the deletion                         this run        this run
using Graces = std::map<std::string, Timestamp, std::less<>>;

/// A deletion as a run sees it.
struct SeenDeletion {
  std::string id;
  Timestamp deleted_at{};
};

/// Brings `graces` up to `deletions`, all there are, in a run that reads `now`; `state` is from
/// before it. After a silence, or a jump, of more than kSilenceMax all of them begin again: nobody
/// knows how much of it was time. So a grace may last longer, and is not shorter for a wrong clock.
void update_graces(Graces& graces, std::span<const SeenDeletion> deletions, const ClockState& state,
                   Timestamp now);

}  // namespace bmad_mem
