// summaries.cpp - looking at a session's summary, and compacting its conversation with it.
#include <algorithm>
#include <thread>

#include "bmad_mem/summary.hpp"
#include "knowledge/dialogue.hpp"
#include "knowledge/summary_file.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"
#include "summaries/summary_session.hpp"

namespace bmad_mem {
namespace {

using std::chrono::milliseconds;

/// Reads the session's files once no update is pending, or after the longest wait.
Result<SummaryFiles> wait_for_update(const Store& store, const std::string& session_id,
                                     milliseconds wait_max) {
  constexpr milliseconds kFirstPause{10};
  constexpr milliseconds kLongestPause{250};
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  for (milliseconds pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    Result<SummaryFiles> files = read_summary_files(store, session_id);
    const auto left = deadline - std::chrono::steady_clock::now();
    if (!files || !is_live(store, files->state.pending) || left <= milliseconds(0)) {
      return files;
    }
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(pause, left));
  }
}

Result<CompactedConversation> compact_now(const Store& store, const std::string& session_id,
                                          const CompactConversationOptions& options) {
  const SummarizerConfig& config = store.config.summarizer;
  const bool waits = options.wait && config.enabled;
  // The summary first: what is said while it is read comes behind it.
  BMAD_TRY_ASSIGN(
      const SummaryFiles files,
      wait_for_update(store, session_id, milliseconds(waits ? config.wait_timeout_ms : 0)));
  BMAD_TRY_ASSIGN(const Conversation talk, read_conversation(store, session_id));
  BMAD_TRY_ASSIGN(const FrontMatter summary, readable_summary(store, session_id, files));
  const std::string last_id = summary.value(kLastSummarizedId);
  return compact_conversation(
      {.enabled = config.enabled,
       .summary = files.text ? std::optional<std::string_view>(summary.body()) : std::nullopt,
       .last_summarized_id = last_id,
       .messages = talk.messages,
       .max_tokens = options.max_tokens});
}

}  // namespace

Summaries::Summaries(MemoryManager& memory) : memory_(&memory) {}

Result<SummaryStatus> Summaries::status(std::string_view session_id) const {
  const std::string id(session_id);
  BMAD_TRY_ASSIGN(const Store* const entered, MemoryInside::enter(*memory_, "summary due"));
  const Store& store = *entered;
  BMAD_TRY_ASSIGN(const SummaryFiles files, read_summary_files(store, id));
  BMAD_TRY_ASSIGN(const Conversation talk, read_conversation(store, id));
  return describe_summary(store, id, files, talk);
}

Result<std::string> Summaries::show(std::string_view session_id) {
  const std::string id(session_id);
  BMAD_TRY_ASSIGN(Store* const entered, MemoryInside::enter(*memory_, "summary show"));
  Store& store = *entered;
  BMAD_TRY_ASSIGN(SummaryFiles files, read_summary_files(store, id));
  if (!files.text) {
    const Result<FileLock::Guard> guard = store.lock_session(id, "summary");
    BMAD_TRY_ASSIGN(files, read_summary_files(store, id));
    if (!files.text) {
      files.text = summary_template();
      // Where nothing can be written, or may be, it is shown all the same.
      static_cast<void>(guard && check_write(store, EntryType::kConversation) &&
                        replace_file(*store.files, session_file(id, kSummaryName), *files.text));
    }
  }
  if (may_read_summaries(store)) {
    return std::move(*files.text);
  }
  BMAD_TRY_ASSIGN(const FrontMatter summary, readable_summary(store, id, files));
  return summary.to_text();
}

Status Summaries::set_compacting(std::string_view session_id, bool compacting) {
  const std::string id(session_id);
  BMAD_TRY_ASSIGN(Store* const entered, MemoryInside::enter(*memory_, "summary compacting"));
  Store& store = *entered;
  BMAD_TRY(check_session(store, id));
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(id, "summary"));
  BMAD_TRY_ASSIGN(SummaryFiles files, read_summary_files(store, id));
  files.state.compacting_since = compacting ? std::optional(store.clock.now()) : std::nullopt;
  return write_summary_state(store, id, files.state);
}

Result<CompactedConversation> Summaries::compact(std::string_view session_id,
                                                 const CompactConversationOptions& options) {
  const std::string id(session_id);
  BMAD_TRY_ASSIGN(Store* const entered, MemoryInside::enter(*memory_, "summary compact"));
  Store& store = *entered;
  BMAD_TRY_ASSIGN(CompactedConversation result, compact_now(store, id, options));
  // Who can't count it has the conversation all the same.
  if (const auto guard = store.lock_session(id, "summary")) {
    note_summary_record(store, id, compaction_record(result, store.clock.now()));
  }
  return result;
}

Result<SummaryStats> Summaries::stats(std::string_view session_id) const {
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(*memory_, "summary stats"));
  return read_summary_stats(*store, std::string(session_id));
}

}  // namespace bmad_mem
