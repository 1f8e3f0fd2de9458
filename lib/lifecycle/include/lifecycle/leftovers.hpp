// leftovers.hpp - what operations that were killed left of a session outside its folder: copies on
// their way, and folders on their way out. Nobody reads them, but they hold what entries said.
//
//   archive/{id}.*.tmp  shared/kept/{id}.jsonl.tmp  deleted/{id}/*.tmp  sessions/.{id}.tmp/
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// The paths of such files and folders that are there. Without a lock some of them may be in use.
Result<std::vector<std::string>> find_leftovers(FileSystem& files, const std::string& session_id);

/// Removes them, durably. The caller holds the root's lock and, for a live session, the session's:
/// then nobody is in the middle of writing one.
Status remove_leftovers(FileSystem& files, const std::string& session_id);

/// Cuts off what a killed compaction or deletion began to write behind the evicted and the deleted
/// lines. The next one would write over it; until then it holds what entries said. The same locks.
Status cut_torn_ends(FileSystem& files, const std::string& session_id);

/// Removes the folder of a session that was deleted. It gets a name of no deletion first, so that
/// a half of it never comes back. Fine when it is gone. The same locks.
Status remove_deleted_folder(FileSystem& files, const std::string& session_id,
                             const std::string& deletion_id);

}  // namespace bmad_mem
