// memory_access.hpp - which types of entries an agent may read and write, as its workflow says.
//
//   workflow:                                               YAML, or the same as JSON
//     memory_requirements:
//       read_access: ["conversation", "decisions", "findings"]
//       write_access: ["findings", "agent_states"]
//
// A list that is absent allows nothing, "all" everything. Who may not write every type may not
// delete, archive, anonymize or redact either.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

struct MemoryAccess {
  std::array<bool, kEntryTypeCount> read{};  ///< In the order of the enum.
  std::array<bool, kEntryTypeCount> write{};
  std::string given_by;  ///< The file that says so, for messages.

  [[nodiscard]] bool may_read(EntryType type) const { return read[static_cast<std::size_t>(type)]; }
  [[nodiscard]] bool may_write(EntryType type) const {
    return write[static_cast<std::size_t>(type)];
  }
};

/// What the workflow `text`, YAML or JSON, requires of the memory. `display_path` is where it lies,
/// for errors. Errors: E_INVALID_FORMAT for what is neither, with line and column; E_SCHEMA_INVALID
/// when it says nothing about memory, or names what is no type; E_SIZE_LIMIT above 1 MB, 32 levels,
/// or 32 anchors and aliases.
Result<MemoryAccess> parse_workflow(std::string_view text, const std::string& display_path);

/// The same of the file at `path`. Errors: as parse_workflow(); E_STORAGE_IO when it can't be read,
/// or is no regular file.
Result<MemoryAccess> read_workflow(const std::string& path);

}  // namespace bmad_mem
