#include "lifecycle/trusted_clock.hpp"

namespace bmad_mem {
namespace {

bool is_near(const ClockState& state, Timestamp now) {
  return state.last_seen && now - *state.last_seen <= kTrustedStepMax;
}

/// Whether the hold goes on. It begins anew when the clock went backwards or was silent for long.
bool goes_on(const ClockState& state, Timestamp now) {
  return state.held_since && state.held_last && now >= *state.held_last &&
         now - *state.held_last <= kSilenceMax;
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

}  // namespace bmad_mem
