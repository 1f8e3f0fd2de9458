// summary.hpp - a session's running summary: written while it goes on, so that compacting the
// conversation costs nothing when it comes.
//
//   messages ──due?──> prompt ──writer──> answer ──checked──> summary.md, last_summarized_id
//   compaction:  summary.md, then every message after last_summarized_id                (no model)
//
// The writer is the command of memory_config.summarizer, or whoever takes prompt() and gives
// apply() the answer. No lock is held while it writes; who comes meanwhile sees that one is
// pending. docs/summaries.md tells what a writer gets, and what it may answer.
//
// A message of a sub-agent (a sidechain) is no part of the conversation: it is neither counted nor
// summarized nor returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

class JsonWriter;

/// Why an update of the summary is due, or why it is not.
enum class SummaryDue : std::uint8_t {
  kDueFirst,         ///< The conversation has become long enough for a first one.
  kDueToolCalls,     ///< Enough tokens and enough tool calls since the last one.
  kDueTokens,        ///< Enough tokens, and no compaction of the conversation in progress.
  kDisabled,         ///< memory_config.summarizer.enabled is false.
  kNoMessages,       ///< Nothing new since the last update.
  kTooShort,         ///< Below minimum_message_tokens_to_init.
  kTooFewTokens,     ///< Below minimum_tokens_between_update.
  kTooFewToolCalls,  ///< Enough tokens, but a compaction is in progress and tool calls are too few.
  kPending,          ///< Somebody is at it.
  kSidechain,        ///< The newest message is a sub-agent's.
};

/// "due_first", "too_short" … Static storage.
std::string_view summary_due_name(SummaryDue due);
bool is_due(SummaryDue due);

struct SummaryStatus {
  std::string session_id;
  SummaryDue due = SummaryDue::kNoMessages;
  bool exists = false;       ///< There is a summary.md.
  bool is_template = false;  ///< It says nothing yet.
  std::string last_summarized_id;
  std::optional<Timestamp> updated_at;
  std::uint64_t messages = 0;        ///< Of the main conversation.
  std::uint64_t messages_since = 0;  ///< Since the last update, and so for the next two.
  std::uint64_t tokens = 0;          ///< Of the conversation; see docs/summaries.md.
  std::uint64_t tokens_since = 0;
  std::uint64_t tool_calls_since = 0;
  std::optional<Timestamp> pending_since;  ///< Also when it counts as dead.
  std::string pending_by;                  ///< "process 4711 (agent \"ann\") on host".
  bool pending_is_stale = false;
  bool compacting = false;  ///< See set_compacting().
};

struct SummaryPrompt {
  std::string text;
  std::string up_to_id;  ///< The newest message in it.
  std::uint64_t messages = 0;
  std::uint64_t messages_left = 0;  ///< That did not fit, and come next time.
  std::size_t tokens = 0;
  std::string ticket;  ///< Tells its answer from that to another prompt.
};

/// What became of one update: one record is kept of each.
struct SummaryUpdate {
  std::string session_id;
  std::string last_summarized_id;
  bool id_was_moved = false;  ///< Not while a compaction was running.
  std::uint64_t messages = 0;
  std::size_t tokens_in = 0;
  std::size_t tokens_out = 0;
  std::optional<std::uint64_t> cache_read_tokens;  ///< Where the writer says so.
  std::optional<std::uint64_t> cache_written_tokens;
  RedactionCounts redacted = {};
};

/// Its members as JSON, as the record has them, without session_id and redacted.
void write_members(const SummaryUpdate& update, JsonWriter& json);

struct SummaryUpdateOptions {
  bool force = false;  ///< Also when none is due; never beside a pending one.
};

/// Why a free compaction was not possible: the caller compacts by other means.
enum class CompactionDecline : std::uint8_t {
  kNone,
  kDisabled,              ///< "disabled"
  kNoSummary,             ///< "no_summary": there is none, or it could not be read
  kEmptyTemplate,         ///< "empty_template"
  kSummarizedIdNotFound,  ///< "summarized_id_not_found"
  kThresholdExceeded,     ///< "threshold_exceeded"
};

std::string_view compaction_decline_name(CompactionDecline decline);

struct ConversationMessage {
  std::string id;
  Timestamp at{};
  std::string role;
  std::string content;
};

struct CompactConversationOptions {
  std::size_t max_tokens = 0;  ///< 0: no threshold.
  bool wait = true;            ///< For a pending update, at most wait_timeout_ms.
};

struct CompactedConversation {
  CompactionDecline declined = CompactionDecline::kNone;
  std::string explanation;  ///< A sentence, when declined.
  bool resumed_session = false;
  std::string summary;                        ///< Markdown, without front matter.
  std::string boundary;                       ///< The line between summary and messages.
  std::vector<ConversationMessage> messages;  ///< In order.
  std::size_t tokens = 0;                     ///< Of all of it.
  std::string markdown;                       ///< All of it as one text.
};

struct SummaryStats {
  std::uint64_t updates = 0;
  std::uint64_t failures = 0;
  std::uint64_t compactions = 0;                               ///< That were free.
  std::map<std::string, std::uint64_t, std::less<>> declined;  ///< By name.
  std::uint64_t resumed = 0;                                   ///< Of those that were free.
  std::uint64_t tokens_in = 0;
  std::uint64_t tokens_out = 0;
  std::uint64_t cache_read_tokens = 0;
  std::uint64_t cache_written_tokens = 0;
  /// What it was counted from, oldest first: a JSON object each. Of a long history the totals.
  std::vector<std::string> records;
};

/// Writes the counts of `stats`, without its records, as members of the object that `json` is in.
void write_members(const SummaryStats& stats, JsonWriter& json);

/// The running summaries of a memory, which must outlive it. Threads: safe.
class Summaries {
 public:
  explicit Summaries(MemoryManager& memory);

  /// How things are. Writes nothing.
  Result<SummaryStatus> status(std::string_view session_id) const;
  /// summary.md as it is, made from the template when there is none yet.
  Result<std::string> show(std::string_view session_id);
  /// What a writer gets: the summary, the messages since the last summarized one, instructions.
  /// Records that an update is pending, whether one is due or not. Errors: E_CONCURRENT_MOD when
  /// one is pending already, naming who is at it; E_INVALID_QUERY when there is nothing new;
  /// E_SCHEMA_INVALID when the config has summaries switched off.
  Result<SummaryPrompt> prompt(std::string_view session_id);
  /// Takes a writer's answer: the new summary.md, or edits of it. `ticket` is that of the prompt;
  /// it may be left out unless another prompt was given up. Durable on success. Errors:
  /// E_INVALID_FORMAT for what asks for anything else, naming the file that may be edited, and
  /// E_SIZE_LIMIT: a better answer may follow; E_CONCURRENT_MOD when none is pending, or
  /// the prompt is out of date. On error the old summary stays.
  Result<SummaryUpdate> apply(std::string_view session_id, std::string_view answer,
                              std::string_view ticket = {});
  /// prompt(), the command of the config, apply(). Nothing when no update is due, or one was tried
  /// at this very message. Errors: as those two; E_SCHEMA_INVALID without a command; E_STORAGE_IO
  /// and E_QUERY_TIMEOUT as run_command().
  Result<std::optional<SummaryUpdate>> update(std::string_view session_id,
                                              const SummaryUpdateOptions& options = {});
  /// Writes summary.md from the session's entries by rules, without a model: the requests, what was
  /// decided, the files, what failed. Only where there is none, it says nothing, or rules wrote
  /// it; and last_summarized_id stays, since it covers no message. Whether it was written. Errors:
  /// as show()'s.
  Result<bool> write_by_rules(std::string_view session_id);
  /// Tells that a compaction of the conversation by the caller's own means begins or has ended. One
  /// that nobody ends counts as over after 15 minutes.
  Status set_compacting(std::string_view session_id, bool compacting);
  /// The summary and every message after it. Waits for a pending update first. To decline is no
  /// error.
  Result<CompactedConversation> compact(std::string_view session_id,
                                        const CompactConversationOptions& options = {});
  /// What was counted on this machine.
  Result<SummaryStats> stats(std::string_view session_id) const;

 private:
  MemoryManager* memory_;
};

}  // namespace bmad_mem
