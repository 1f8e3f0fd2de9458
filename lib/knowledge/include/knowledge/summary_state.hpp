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

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/summary.hpp"
#include "knowledge/summary_rules.hpp"

namespace bmad_mem {

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
