// sessions.hpp - sessions made, found and described, and entries written into them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entries.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "model/entry.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Makes `identity`, a Session or SessionParams, one that may be written.
template <typename Identity>
void redact_identity(const Store& store, Identity& identity) {
  if (store.redaction == nullptr) {
    return;
  }
  const auto redact = [&](std::string& text) {
    text = store.redaction->redact_text(text, identity.session_id);
  };
  redact(identity.user_id);
  redact(identity.project_name);
  redact(identity.session_type);
  std::ranges::for_each(identity.agent_ids, redact);
  std::ranges::for_each(identity.tags, redact);
}

Result<std::string> create_session(Store& store, const SessionParams& params);
/// Makes the session that `manifest` describes, of another machine. Errors: E_CONCURRENT_MOD when
/// there is one of that id.
Status make_session(Store& store, const Manifest& manifest);
/// Errors: as LineEncryption::encrypt(), where no entry could be written to session `session_id`,
/// which is not there yet: it would stay empty.
Status check_may_encrypt(const Store& store, std::string_view session_id);
/// See MemoryManager::adopt_session().
Status adopt_session(Store& store, const Session& identity);
/// See MemoryManager::usual_session().
Result<UsualSession> usual_session(Store& store, const SessionParams& fresh,
                                   const std::function<Result<bool>()>& is_needed = {});
/// Removes what crashes have left of sessions that were never created. The caller holds the root's
/// lock, so none of them is in the making.
Status remove_unfinished_sessions(Store& store);

/// Without a title that is derived: that is one more file to read.
Result<Session> describe_session(const Store& store, const std::string& session_id);
/// The same of a session whose files are in `files`, such as an archive's.
Result<Session> describe_session(FileSystem& files, const std::string& session_id);
/// With its title.
Result<Session> titled_session(const Store& store, const std::string& session_id);
/// Sets what `change` names in `manifest`, without its secrets. Errors: as
/// MemoryManager::update_session(); the manifest may be changed in part then.
Status change_manifest(const Store& store, const SessionChange& change, Manifest& manifest);
/// See MemoryManager::update_session().
Result<Session> update_session(Store& store, const std::string& session_id,
                               const SessionChange& change);
SessionState state_of(const Store& store, const Session& session);

// Entries on their way into the logs of a session.
//
//   JSON -> without secrets, with its marks -> completed, checked -> lock -> append -> sync

/// Asked under the session's lock before a line is appended; its error is the writer's.
using AppendGuard = std::function<Status()>;

/// See MemoryManager::add_batch().
Result<BatchReport> add_lines(Store& store, const std::string& session_id, EntryType type,
                              std::span<const std::string_view> lines, const BatchOptions& options,
                              const AppendGuard& is_right = {});
/// What a line without an id becomes that a person typed into a log: without secrets, completed.
/// Nothing when it is no entry of `type`.
std::optional<std::string> completed_line(Store& store, const std::string& session_id,
                                          EntryType type, std::string_view line);
/// See MemoryManager::check_batch().
Result<BatchReport> check_lines(Store& store, EntryType type,
                                std::span<const std::string_view> lines,
                                const BatchOptions& options);
/// See MemoryManager::add_artifact_document().
Result<std::string> add_artifact_document(Store& store, const std::string& session_id,
                                          ArtifactEntry entry, std::string_view document);
/// Whether a session of `size` bytes is to be compacted: it is above its trigger, and has grown
/// since the last compaction.
bool wants_compaction(const Store& store, const std::string& session_id, std::uint64_t size);

// Which entries of a batch a session knows already, or knew before they were
// deleted, purged or evicted; and what git took away with a log while it was being written.

/// Drops entries that are known or gone, or stand twice in the batch itself, as `rule` says; counts
/// them in `report`. Errors: E_CONCURRENT_MOD, where the rule refuses those that are known, for the
/// first whose id was purged, or has another newest line; as the file system's.
Status drop_known(const Store& store, const std::string& session_id, EntryType type,
                  KnownEntries rule, std::vector<CompleteEntry>& entries, BatchReport& report);

/// Those of `entries` that are nowhere: not in the session's log, nor evicted, nor deleted since.
Result<std::vector<CompleteEntry>> lost_entries(const Store& store, const std::string& session_id,
                                                EntryType type,
                                                std::span<const CompleteEntry> entries);

}  // namespace bmad_mem
