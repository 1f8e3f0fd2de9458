// summary_rules.hpp - when a summary is to be written: a pure function of what there is.
//
//   disabled? -> sub-agent? -> nothing new? -> pending? -> long enough? -> enough since?
//
// Each rule is asked only when those before it have nothing to say.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/summary.hpp"

namespace bmad_mem {

struct SummaryThresholds {
  std::uint64_t minimum_message_tokens_to_init = 5000;
  std::uint64_t minimum_tokens_between_update = 5000;
  std::uint64_t tool_calls_between_updates = 10;
};

struct SummaryDueInput {
  bool enabled = true;
  bool has_new_messages = true;  ///< Since the last update, and none was tried at the newest.
  bool newest_is_sidechain = false;
  bool is_pending = false;  ///< A live one.
  bool compacting = false;
  bool was_summarized = false;  ///< There was an update before.
  std::uint64_t tokens = 0;     ///< Of the whole conversation.
  std::uint64_t tokens_since = 0;
  std::uint64_t tool_calls_since = 0;
  SummaryThresholds thresholds;
};

/// "Enough" is the threshold itself. Before the first update the tokens since the last one are not
/// asked for: the whole conversation is new, and has been found long enough.
SummaryDue summary_due(const SummaryDueInput& input);

/// Whether what began at `since` is older than `age_max` at `now`, or lies as far ahead: a clock
/// that was set back must not keep it alive.
bool is_stale(Timestamp since, Timestamp now, std::chrono::milliseconds age_max);

/// How long a compaction that nobody ended is believed to go on.
inline constexpr std::chrono::minutes kCompactingMax{15};
bool is_compacting(std::optional<Timestamp> since, Timestamp now);

}  // namespace bmad_mem
