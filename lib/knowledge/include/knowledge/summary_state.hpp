// summary_state.hpp - what is local to this machine about a session's summary: who is writing it,
// and what has been counted.
//
//   sessions/{id}/.lock.summary.json
//   {"pending":{"pid":…,"host":…,"agent_id":…,"started_at":…,"up_to_id":…,…},"counted_id":…,
//    "counted_at":…,"tried_id":…,"compacting_since":…}
//   sessions/{id}/.lock.summary-log.jsonl     one record an update, a failure, a compaction
//
// Both are ignored by git, as all that begins with .lock is, and may be deleted at any time. Pure:
// text in, values out, and back.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/summary.hpp"

namespace bmad_mem {

// When a summary is to be written: a pure function of what there is.
//
//   disabled? -> sub-agent? -> nothing new? -> pending? -> long enough? -> enough since?
//
// Each rule is asked only when those before it have nothing to say.

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

// The state beside it.

/// An update of a summary that was begun.
struct PendingSummary {
  std::int64_t pid = 0;
  std::string host;
  std::string agent_id;
  Timestamp started_at{};
  std::string up_to_id;   ///< The last message in the prompt.
  std::string base_hash;  ///< Of summary.md as it was in the prompt.
  std::string ticket;
  bool took_over = false;  ///< From one that was given up, whose answer may still come.
  std::uint64_t messages = 0;
  std::uint64_t tokens = 0;  ///< Of the prompt.

  /// "process 4711 (agent "ann") on host".
  [[nodiscard]] std::string who() const;
};

struct SummaryState {
  std::optional<PendingSummary> pending;
  std::string counted_id;  ///< The last message of the last update, also where the mark stayed.
  std::optional<Timestamp> counted_at;  ///< When that update was begun.
  std::string tried_id;                 ///< The newest message when an update was last begun.
  std::optional<Timestamp> compacting_since;

  [[nodiscard]] std::string to_text() const;
};

/// What `text` says; nothing of what can't be read.
SummaryState parse_summary_state(std::string_view text);

/// Records, a JSON object on one line each, without '\n'.
std::string update_record(const SummaryUpdate& update, const SummaryThresholds& thresholds,
                          Timestamp at);
std::string failure_record(std::string_view code, Timestamp at);
std::string compaction_record(const CompactedConversation& result, Timestamp at);
/// All that `stats` counts, as one record that takes the place of many.
std::string totals_record(const SummaryStats& stats, Timestamp at);

/// What the records in `text` add up to. Lines that are none are passed over.
SummaryStats count_summary_records(std::string_view text);

}  // namespace bmad_mem
