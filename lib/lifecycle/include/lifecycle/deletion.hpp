// deletion.hpp - entries and sessions deleted, brought back, and gone for good.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/result.hpp"
#include "lifecycle/log_lines.hpp"
#include "lifecycle/maintenance_state.hpp"
#include "store/manifest.hpp"
#include "store/store.hpp"

namespace bmad_mem {

struct DeletedLine;

Result<DeletionReport> delete_entries(Store& store, const DeletionCriteria& criteria,
                                      const DeleteOptions& options);
Result<DeletionReport> delete_session(Store& store, const std::string& session_id,
                                      const DeleteOptions& options);
/// Moves the lines that `find` finds under deleted/, whoever wrote them: another mirror of the
/// memory has deleted them. Other versions of their entries stay. `detail` is for the audit.
Status delete_lines(Store& store, const std::string& session_id, const FindLines& find,
                    const std::string& detail);
/// How many entries retention took from one place, or would take: as MaintenanceAction has it.
struct Retired {
  std::string session_id;
  std::string place;
  std::array<std::uint64_t, kEntryTypeCount> entries{};
  std::uint64_t statements = 0;  ///< That stay of the talk among them.

  [[nodiscard]] std::uint64_t total() const;
};

/// Deletes the entries of a session, live or archived, that are past the days of their type at
/// `now`: from its logs, its archive, what was evicted, and what version 0.1 kept. They can be
/// brought back, as what a user deletes. An archived session of which nothing is left goes as a
/// whole. Nothing, and at the cost of its manifest, when the session is too young to have any. With
/// `whole_files` a log goes only when all in it does, also what is past its expires_at, and then
/// the file itself; of a session, live or archived, all or nothing of the archive.
Result<std::optional<std::vector<Retired>>> retire_session(Store& store,
                                                           const std::string& session_id,
                                                           Timestamp now, bool dry_run,
                                                           bool whole_files = false);

/// Removes for good what is past its own expires_at at `now`: all versions, wherever they are. What
/// can't be done in one session goes to `problems`, and the others go on.
Result<std::vector<Retired>> purge_invalid(Store& store, Timestamp now, bool dry_run,
                                           std::vector<Error>& problems);
Result<UndeleteReport> undelete(Store& store, const UndeleteCriteria& criteria);
Result<std::vector<Deletion>> list_deletions(const Store& store);
/// See MemoryManager. Errors: as read_all_deleted().
Result<std::vector<Entry>> deleted_entries(const Store& store, const std::string& session_id);

/// Which deletions can't be brought back any more.
struct PurgeTime {
  Timestamp now{};                 ///< As far as it is trusted; Timestamp::max(): all of them.
  const Graces* graces = nullptr;  ///< Without it, each ends when it says so itself.

  [[nodiscard]] bool ends(const Deletion& deletion) const;
};
/// Removes for good what was deleted and can't be brought back any more.
Result<DeletionReport> purge_deleted(Store& store, const PurgeTime& time);

/// Live, archived and deleted ones, sorted.
Result<std::vector<std::string>> all_session_ids(const Store& store);

// What operations that were killed left of a session outside its folder: copies on
// their way, and folders on their way out. Nobody reads them, but they hold what entries said.
//
//   archive/{id}.*.tmp  shared/kept/{id}.jsonl.tmp  deleted/{id}/*.tmp  sessions/.{id}.tmp/

/// The paths of such files and folders that are there. Without a lock some of them may be in use.
Result<std::vector<std::string>> find_leftovers(FileSystem& files, const std::string& session_id);

/// Removes them, durably. The caller holds the root's lock and, for a live session, the session's:
/// then nobody is in the middle of writing one.
Status remove_leftovers(FileSystem& files, const std::string& session_id);

/// Cuts off what a killed compaction or deletion began to write behind the evicted and the deleted
/// lines. The next one would write over it; until then it holds what entries said. The same locks.
Status cut_torn_ends(FileSystem& files, const std::string& session_id);

/// Puts `left` in the place of the deleted lines, and takes the deletions of which none is left out
/// of the record. Durable. The caller holds the session's lock.
Status replace_deleted_lines(FileSystem& files, const std::string& session_id,
                             const std::vector<DeletedLine>& left);

/// Removes the folder of a session that was deleted. It gets a name of no deletion first, so that
/// a half of it never comes back. Fine when it is gone. The same locks.
Status remove_deleted_folder(FileSystem& files, const std::string& session_id,
                             const std::string& deletion_id);

}  // namespace bmad_mem
