// deleted_entries.hpp - the lines that were deleted and can still be brought back:
// deleted/{session-id}/entries.jsonl.
//
//   {"type":"fact","deletion_id":"del-…","deleted_at":"…","entry":{…the line as it stood…}}
//
// A line is durable here before it leaves its log. The caller holds the session's lock.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

struct DeletedLine {
  EntryType type = EntryType::kConversation;
  std::string deletion_id;
  Timestamp deleted_at{};
  std::string line;  ///< As it stood in the log, without '\n'.
  /// Not read: `line` is the whole line of the file, and the rest is unknown. It stays where it is.
  bool is_damaged = false;
  std::uint64_t number = 0;  ///< 1-based in the file; 0 for one that is to be written.

  /// Whether it belongs to the deletion; a damaged one by what can be read of it.
  [[nodiscard]] bool is_of(std::string_view deletion) const {
    return is_damaged ? line.find(deletion) != std::string::npos : deletion_id == deletion;
  }
};

/// Appends `lines`; durable on success. Makes the folders.
Status append_deleted(FileSystem& files, const std::string& session_id,
                      std::span<const DeletedLine> lines);

/// All of them, in the order in which they were deleted, damaged ones too.
Result<std::vector<DeletedLine>> read_deleted(FileSystem& files, const std::string& session_id);

/// Puts `lines` in the place of all there are; none removes the file. Durable on success.
Status replace_deleted(FileSystem& files, const std::string& session_id,
                       std::span<const DeletedLine> lines);

}  // namespace bmad_mem
