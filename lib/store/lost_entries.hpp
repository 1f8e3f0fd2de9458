// lost_entries.hpp - what git took away with a log while it was being written.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"
#include "model/validate.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Those of `entries` that are nowhere: not in the session's log, nor evicted, nor deleted since.
Result<std::vector<CompleteEntry>> lost_entries(const Store& store, const std::string& session_id,
                                                EntryType type,
                                                std::span<const CompleteEntry> entries);

}  // namespace bmad_mem
