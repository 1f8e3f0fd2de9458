// log_marks.hpp - what the logs of a session were when they were looked at, for those who look into
// them without a lock and act under it.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"

namespace bmad_mem {

/// By type; nothing where there was no log.
using LogMarks = std::array<std::optional<FileInfo>, kEntryTypeCount>;

/// The logs of session `session_id` as they are now. Errors: as the file system's.
Result<LogMarks> look_at_logs(FileSystem& files, std::string_view session_id);

/// Whether the logs are still those that were looked at.
Result<bool> still_holds(FileSystem& files, std::string_view session_id, const LogMarks& logs);

}  // namespace bmad_mem
