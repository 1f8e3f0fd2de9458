#include "lifecycle/log_marks.hpp"

#include "store/layout.hpp"

namespace bmad_mem {

Result<LogMarks> look_at_logs(FileSystem& files, std::string_view session_id) {
  LogMarks logs;
  for (const EntryType type : kEntryTypes) {
    Result<FileInfo> info = files.info(session_file(session_id, entry_type_info(type).log_file));
    if (info) {
      logs[static_cast<std::size_t>(type)] = *info;
    } else if (!is_not_found(info.error())) {
      return std::move(info).error();
    }
  }
  return logs;
}

Result<bool> still_holds(FileSystem& files, std::string_view session_id, const LogMarks& logs) {
  BMAD_TRY_ASSIGN(const LogMarks present, look_at_logs(files, session_id));
  for (std::size_t type = 0; type < logs.size(); ++type) {
    const std::optional<FileInfo>& now = present[type];
    const std::optional<FileInfo>& then = logs[type];
    if (now.has_value() != then.has_value() ||
        (now &&
         (!now->same_file(*then) || now->size != then->size || now->mtime_ns != then->mtime_ns))) {
      return false;
    }
  }
  return true;
}

}  // namespace bmad_mem
