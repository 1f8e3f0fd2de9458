// compaction.hpp - a session made smaller, and what left it brought back.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bmad_mem/lifecycle.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<CompactionReport> compact_session(Store& store, const std::string& session_id,
                                         const CompactOptions& options);
Result<std::uint64_t> restore_evicted_entries(Store& store, const std::string& session_id,
                                              std::span<const std::string> ids);

}  // namespace bmad_mem
