// indexing.hpp - the indexes of sessions made anew, and what people read of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "search/readable_index.hpp"
#include "search/session_index.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<std::vector<IndexReport>> rebuild_indexes(Store& store, std::span<const std::string> wanted,
                                                 const MemoryManager::Progress& on_progress);
/// Makes the index cover the logs again after a rewrite. What fails here fails nothing.
void refresh_index(Store& store, const std::string& session_id);

/// What people read of the index of a session whose logs are in `files`. It is refreshed.
/// Errors: as make_readable_index().
Result<ReadableIndex> readable_index(const Store& store, SessionIndex& index, FileSystem& files);
/// Writes it to index.json. The caller holds the session's lock.
Result<IndexReport> write_readable_index(const Store& store, SessionIndex& index);

}  // namespace bmad_mem
