// summary_session.hpp - a session as its summary sees it: the files it is made from, and the two it
// leaves beside it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/summary.hpp"
#include "knowledge/summary_file.hpp"
#include "knowledge/summary_prompt.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// What lies beside the logs. Read without the lock it may be of two moments.
struct SummaryFiles {
  std::optional<std::string> text;  ///< summary.md; nothing when there is none.
  SummaryState state;

  [[nodiscard]] FrontMatter summary() const;
  /// Of summary.md; of the template where there is none.
  [[nodiscard]] std::string hash() const;
};

/// The summary of `files` as it may be told: rules quote decisions, events and findings, so that
/// who may not read all of these is told what rules find in the rest. Errors: as
/// read_conversation().
Result<FrontMatter> readable_summary(const Store& store, const std::string& session_id,
                                     const SummaryFiles& files);

/// Errors: E_SESSION_NOT_FOUND, E_SESSION_ARCHIVED, E_INVALID_FORMAT; as the file system's.
Result<SummaryFiles> read_summary_files(const Store& store, const std::string& session_id);

struct Conversation {
  std::vector<DialogueMessage> messages;  ///< Without those of sub-agents.
  std::vector<Timestamp> tool_uses;       ///< From the events, sorted.
  bool newest_is_sidechain = false;
};

/// Errors: as read_summary_files().
Result<Conversation> read_conversation(const Store& store, const std::string& session_id);

/// Whether an update is being written, as far as anybody knows.
bool is_live(const Store& store, const std::optional<PendingSummary>& pending);

SummaryStatus describe_summary(const Store& store, const std::string& session_id,
                               const SummaryFiles& files, const Conversation& talk);

/// The caller holds the session's lock, here and below. Not synced: after a power cut nobody is at
/// it any more.
Status write_summary_state(const Store& store, const std::string& session_id,
                           const SummaryState& state);

/// Adds `record` to what was counted. What fails here fails nothing else.
void note_summary_record(const Store& store, const std::string& session_id,
                         const std::string& record);

// Summaries::prompt() and apply() on an opened root.

/// As Summaries::prompt().
Result<SummaryPrompt> begin_summary_update(Store& store, const std::string& session_id);

/// As Summaries::apply().
Result<SummaryUpdate> finish_summary_update(Store& store, const std::string& session_id,
                                            std::string_view answer, std::string_view ticket);

}  // namespace bmad_mem
