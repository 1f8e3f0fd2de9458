// deleted_entries.hpp - the lines that were deleted and can still be brought back:
// deleted/{session-id}/entries.jsonl.
//
//   {"type":"fact","deletion_id":"del-…","deleted_at":"…","entry":{…the line as it stood…}}
//
// A line is durable here before it leaves its log. The caller holds the session's lock.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"
#include "core/file_system.hpp"

namespace bmad_mem {

struct DeletedLine {
  EntryType type = EntryType::kConversation;
  std::string deletion_id;
  Timestamp deleted_at{};
  std::string line;  ///< As it stood in the log, without '\n'.
};

/// Appends `lines`; durable on success. Makes the folders.
Status append_deleted(FileSystem& files, const std::string& session_id,
                      std::span<const DeletedLine> lines);

/// All of them, in the order in which they were deleted. Lines that are none are passed over.
Result<std::vector<DeletedLine>> read_deleted(FileSystem& files, const std::string& session_id);

/// Puts `lines` in the place of all there are; none removes the file. Durable on success.
Status replace_deleted(FileSystem& files, const std::string& session_id,
                       std::span<const DeletedLine> lines);

}  // namespace bmad_mem
