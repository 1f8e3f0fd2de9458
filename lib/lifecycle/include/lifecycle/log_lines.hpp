// log_lines.hpp - lines that are to leave the logs of one session, and the step that takes them
// out. Compaction, deletion and purging share it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/result.hpp"
#include "store/entry_scanner.hpp"
#include "store/file_lock.hpp"

namespace bmad_mem {

/// A line where it stands.
struct LogLine {
  EntryType type = EntryType::kConversation;
  std::string id;
  std::uint64_t line = 0;    ///< 1-based.
  std::uint64_t offset = 0;  ///< In its log.
  std::uint64_t size = 0;    ///< With its '\n'.
};

LogLine log_line(const ScannedEntry& entry);

/// Finds the lines that an operation is about, by type and offset; asked again when a log changed
/// before the session's lock was held.
using FindLines = std::function<Result<std::vector<LogLine>>()>;
/// What is to be done by the one who holds the session's lock, `guard`.
using UnderLock = std::function<Status(const FileLock::Guard& guard)>;

/// The texts of `lines`, which are ordered by type and offset, without '\n' and a carriage return
/// before it. The caller holds the session's lock, or can do with an error.
Result<std::vector<std::string>> read_lines(FileSystem& files, const std::string& session_id,
                                            const std::vector<LogLine>& lines);

/// `line` as it stands in a report; `text`, if given, makes its headline.
RemovedEntry removed_entry(const std::string& session_id, const LogLine& line, std::string reason,
                           std::string_view text, JsonParser& parser);

enum class FullDisk : std::uint8_t {
  kFails,   ///< What must not be lost by a crash is rewritten or left alone.
  kBlanks,  ///< What is to be destroyed is overwritten where there is no room for a copy.
};

/// Takes `lines`, ordered by type and offset, out of the logs: one log after another, each durable.
/// The caller holds the session's lock. `events_instead`, whole lines, stand in the log of events
/// where the first of its lines was; for FullDisk::kFails only.
Status take_out_lines(FileSystem& files, const std::string& session_id,
                      const std::vector<LogLine>& lines, FullDisk full_disk,
                      std::string_view events_instead = {});

// What the logs of a session were when they were looked at, for those who look into
// them without a lock and act under it.

/// By type; nothing where there was no log.
using LogMarks = std::array<std::optional<FileInfo>, kEntryTypeCount>;

/// The logs of session `session_id` as they are now. Errors: as the file system's.
Result<LogMarks> look_at_logs(FileSystem& files, std::string_view session_id);

/// Whether the logs are still those that were looked at.
Result<bool> still_holds(FileSystem& files, std::string_view session_id, const LogMarks& logs);

}  // namespace bmad_mem
