// removed_log.hpp - what was written to a log that was removed before it was durable.
//
// git takes files away without a lock (checkout, stash, clean): a line may go to a file that has no
// name any more. Our own rewrites replace logs, too, but take along what they hold.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "model/complete.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Those of `entries` that are nowhere: not in the session's log, nor evicted, nor deleted since.
Result<std::vector<CompleteEntry>> lost_entries(const Store& store, const std::string& session_id,
                                                EntryType type,
                                                std::span<const CompleteEntry> entries);

}  // namespace bmad_mem
