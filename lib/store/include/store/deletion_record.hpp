// deletion_record.hpp - what was deleted of a session: deleted/{session-id}/deletion-record.json,
// and the lines beside it.
//
//   {"session_id": "s1",
//    "deletions": [{"deletion_id": "del-…", "deleted_at": "…", "expires_at": "…", "agent_id":
//    "ann",
//                   "kind": "entries", "entries": 3}, …],
//    "purged_ids": ["f1", …],           never imported again; one that held a text that was
//                                       forgotten is "forgotten:HASH"
//    "purging": ["f2", …]}              a purge that was begun: it is finished by the next one
//
// Ids and counts, never content. The deleted lines stand in entries.jsonl beside it, a session that
// was deleted as a whole in a folder with the name of its deletion. The caller holds the lock of
// the session, or the root's when there is no session.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

struct DeletionRecord {
  std::string session_id;
  std::vector<Deletion> deletions;      ///< Oldest first.
  std::vector<std::string> purged_ids;  ///< Sorted, each once.
  std::vector<std::string> purging;     ///< The same.

  [[nodiscard]] bool is_empty() const {
    return deletions.empty() && purged_ids.empty() && purging.empty();
  }
};

/// An empty record when there is none. Errors: E_STORAGE_CORRUPT naming file and line.
Result<DeletionRecord> load_deletion_record(FileSystem& files, const std::string& session_id);

/// Replaces the record; makes the folders it needs. Durable on success. An empty one is removed.
Status save_deletion_record(FileSystem& files, const DeletionRecord& record);

struct Store;

/// With it begins what stands for an id that held a text that was forgotten.
inline constexpr std::string_view kHiddenIdPrefix = "forgotten:";

/// Whether `id` is in the sorted `ids`, itself or hidden.
bool is_purged_id(const Store& store, const std::vector<std::string>& ids, std::string_view id);

/// Adds `ids` to the sorted `list`.
void add_ids(std::vector<std::string>& list, std::vector<std::string> ids);

/// The sessions under deleted/, sorted; none without that folder.
Result<std::vector<std::string>> sessions_with_deletions(FileSystem& files);

/// Makes deleted/{session_id} with the folders above it, durably; what is there already is fine.
Status make_deleted_folder(FileSystem& files, const std::string& session_id);

// The lines that were deleted and can still be brought back:
// deleted/{session-id}/entries.jsonl.
//
//   {"type":"fact","deletion_id":"del-…","deleted_at":"…","entry":{…the line as it stood…}}
//   {"type":"fact","deletion_id":"del-…","deleted_at":"…","from":"evicted","entry":{…}}
//
// A line is durable here before it leaves its log. The caller holds the session's lock.

struct DeletedLine {
  EntryType type = EntryType::kConversation;
  std::string deletion_id = {};
  Timestamp deleted_at{};
  std::string line;          ///< As it stood in the log, without '\n'.
  bool was_evicted = false;  ///< Compaction had moved it out: what the log held is newer.
  /// Not read: `line` is the whole line of the file, and the rest is unknown. It stays where it is.
  bool is_damaged = false;
  std::uint64_t number = 0;  ///< 1-based in the file; 0 for one that is to be written.
  bool of_session = false;   ///< It is in a log of a session that was deleted as a whole.

  /// Whether it belongs to the deletion; a damaged one by what can be read of it.
  [[nodiscard]] bool is_of(std::string_view deletion) const {
    return is_damaged ? line.find(deletion) != std::string::npos : deletion_id == deletion;
  }
};

/// Appends `lines`; durable on success. Makes the folders.
Status append_deleted(FileSystem& files, const std::string& session_id,
                      std::span<const DeletedLine> lines);

/// All of them, in the order in which they were deleted, damaged ones too.
Result<std::vector<DeletedLine>> read_deleted(FileSystem& files, const std::string& session_id);

/// A log of the session as it was deleted as a whole; it may not be there.
struct DeletedLog {
  EntryType type = EntryType::kConversation;
  std::string path;
};
/// All of each time. Errors: as load_deletion_record().
Result<std::vector<DeletedLog>> deleted_logs(FileSystem& files, const std::string& session_id);
/// Its lines; none when it is not there.
Result<std::vector<DeletedLine>> read_deleted_log(FileSystem& files, const DeletedLog& log);

/// Everything of the session that undelete() can restore: the lines of entries.jsonl, without
/// damaged ones, and of its logs as they were deleted with it.
Result<std::vector<DeletedLine>> read_all_deleted(FileSystem& files, const std::string& session_id);

/// Puts `lines` in the place of all there are; none removes the file. Durable on success.
Status replace_deleted(FileSystem& files, const std::string& session_id,
                       std::span<const DeletedLine> lines);

}  // namespace bmad_mem
