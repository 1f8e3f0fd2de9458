// known_entries.hpp - which entries of a batch a session knows already, or knew before they were
// deleted, purged or evicted; and what git took away with a log while it was being written.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "model/validate.hpp"
#include "store/store.hpp"

namespace bmad_mem {

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
