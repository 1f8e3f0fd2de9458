#include "lifecycle/trusted_clock.hpp"

#include <algorithm>
#include <utility>

namespace bmad_mem {
namespace {

bool is_near(const ClockState& state, Timestamp now) {
  return state.last_seen && now - *state.last_seen <= kTrustedStepMax;
}

/// Whether the hold goes on. It begins anew when the clock went backwards or was silent for long.
bool goes_on(const ClockState& state, Timestamp now) {
  return state.held_since && state.held_last && now >= *state.held_last &&
         now - *state.held_last <= kHeldSilenceMax;
}

/// Whether the clock has gone on from the jump that is held for long enough.
bool confirms(const ClockState& state, Timestamp now) {
  return goes_on(state, now) && now - *state.held_since >= kHoldMin;
}

}  // namespace

TrustedTime advance_clock(const ClockState& state, Timestamp now) {
  ClockState next = state;
  if (confirms(next, now)) {
    next = {.last_seen = next.held_last};
  }
  if (is_near(next, now)) {  // Also when it went backwards: the lower value counts.
    return {.time = now, .state = {.last_seen = now}};
  }
  next.held_since = goes_on(next, now) ? next.held_since : now;
  next.held_last = now;
  return {.time = next.last_seen.value_or(Timestamp{}), .is_held = true, .state = next};
}

void update_graces(Graces& graces, std::span<const SeenDeletion> deletions, const ClockState& state,
                   Timestamp now) {
  const std::optional<Timestamp> last = state.held_last ? state.held_last : state.last_seen;
  const bool goes_on = last && now - *last <= kSilenceMax;
  Graces next;
  for (const SeenDeletion& each : deletions) {
    const auto known = graces.find(each.id);
    if (goes_on && known != graces.end()) {
      // A mark far ahead was made while the clock was.
      next[each.id] = known->second > now + kSilenceMax ? now : known->second;
    } else if (goes_on && each.deleted_at >= *last - kTrustedStepMax && each.deleted_at <= now) {
      next[each.id] = each.deleted_at;
    } else {
      next[each.id] = std::max(now, last.value_or(now));
    }
  }
  graces = std::move(next);
}

}  // namespace bmad_mem
