// summary_file.hpp - summary.md: what it begins as, what it may become, and when it is written; and
// what is local to this machine about it: who is writing it, and what has been counted.
//
//   ---
//   last_summarized_id: msg-01kaxx8v04q7m2s
//   updated_at: 2026-01-11T10:05:23Z
//   ---
//   # Session summary
//
//   ## Current state
//   …
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
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/summary.hpp"
#include "store/config.hpp"

namespace bmad_mem {

// When a summary is to be written: a pure function of what there is.
//
//   disabled? -> sub-agent? -> nothing new? -> pending? -> long enough? -> enough since?
//
// Each rule is asked only when those before it have nothing to say.

/// "Enough" is the threshold itself. Before the first update the tokens since the last one are not
/// asked for: the whole conversation is new, and has been found long enough. `status`: all but what
/// is wanted. `was_summarized`: there was an update before.
SummaryDue summary_due(const SummaryStatus& status, const SummarizerConfig& config,
                       bool newest_is_sidechain, bool was_summarized);

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
std::string update_record(const SummaryUpdate& update, const SummarizerConfig& config,
                          Timestamp at);
std::string failure_record(std::string_view code, Timestamp at);
std::string compaction_record(const CompactedConversation& result, Timestamp at);
/// All that `stats` counts, as one record that takes the place of many.
std::string totals_record(const SummaryStats& stats, Timestamp at);

/// What the records in `text` add up to. Lines that are none are passed over.
SummaryStats count_summary_records(std::string_view text);

/// How the file is called where people and models are told about it.
inline constexpr std::string_view kSummaryFileName = "summary.md";
/// In the front matter: when the summary was last written by an update.
inline constexpr std::string_view kSummaryUpdatedAt = "updated_at";

/// Most that a summary may be: what a prompt can still bear beside the messages.
inline constexpr std::size_t kSummarySizeMax = 64U << 10U;
inline constexpr std::size_t kSummaryTokensMax = 12'000;

/// What a summary begins as, without front matter.
std::string_view summary_template();

/// Whether `body` says nothing yet: there is nothing in it but headings and lines of the template.
bool is_empty_summary(std::string_view body);

/// The headings in `body` ("## Task"), in order; what stands in fences is none.
std::vector<std::string_view> summary_headings(std::string_view body);

/// `text` as valid UTF-8 with '\n' ends and no character that steers: no controls but tab and
/// newline, no changes of direction, no invisible tags.
std::string without_controls(std::string_view text);

// A text with a few named values in front of it, as summary.md has them.
//
//   ---
//   last_summarized_id: msg-01kaxx8v04q7m2s
//   mine: kept as it is
//   ---
//   # Summary
//
// One value a line. Lines that nobody set keep their bytes, and so does what follows. A text that
// does not begin so is all body.

class FrontMatter {
 public:
  explicit FrontMatter(std::string_view text);

  /// The value of `key`, without the quotes and blanks around it; empty when there is none.
  [[nodiscard]] std::string value(std::string_view key) const;
  /// Replaces the line of `key`, or adds one at the end.
  void set(std::string_view key, std::string_view value);

  [[nodiscard]] const std::string& body() const { return body_; }
  void set_body(std::string body) { body_ = std::move(body); }

  [[nodiscard]] std::string to_text() const;

 private:
  std::vector<std::string> lines_;
  std::string body_;
};

/// Its name in the front matter of summary.md.
inline constexpr std::string_view kLastSummarizedId = "last_summarized_id";

/// Id of the last message that the summary covers; empty without a summary, or when it names none.
std::string last_summarized_id(FileSystem& files, std::string_view session_id);

struct Store;

/// Writes one that was dropped again, from what is left in the session; nothing when there is
/// nothing to say. Any other summary stays. What fails here fails nothing. The caller does not hold
/// the session's lock.
void renew_rule_summary(Store& store, const std::string& session_id);

/// Whether `text`, of a summary.md, is as rules wrote it.
bool is_summary_by_rules(std::string_view text);

/// Removes it, durably, so that no word of an entry that goes stays in it, even after a kill; the
/// next look at the session makes another. Any other summary stays. Whether there was one. The
/// caller holds the session's lock.
Result<bool> drop_rule_summary(FileSystem& files, std::string_view session_id);

}  // namespace bmad_mem
