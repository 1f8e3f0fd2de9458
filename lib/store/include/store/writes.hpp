// writes.hpp - entries on their way into the logs of a session.
//
//   JSON -> without secrets, with its marks -> completed, checked -> lock -> append -> sync
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/entries.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// See MemoryManager::add_batch().
Result<BatchReport> add_lines(Store& store, const std::string& session_id, EntryType type,
                              std::span<const std::string_view> lines, const BatchOptions& options);
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

}  // namespace bmad_mem
