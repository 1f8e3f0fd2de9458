// archiving.hpp - a session into its archive and back.
#pragma once

#include <string>
#include <vector>

#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/reports.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<ArchiveReport> archive_session(Store& store, const std::string& session_id,
                                      const ArchiveOptions& options = {});
Result<Session> restore_session(Store& store, const std::string& session_id);
Result<std::vector<ArchivedSession>> list_archived(const Store& store);
/// Removes archive, its manifest and what was kept. The caller holds the root's lock.
Status remove_archive(FileSystem& files, const std::string& session_id);
/// Removes the folder of a session of which only remains are left, and says whether there was one.
/// The caller holds the root's lock, and not the session's.
Result<bool> clear_remains(Store& store, const std::string& session_id);

}  // namespace bmad_mem
