// whole_logs.cpp - logs of which all goes, and how many entries went.
#include <numeric>

#include "deletion_steps.hpp"
#include "lifecycle/deletion.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {

std::uint64_t Retired::total() const {
  return std::accumulate(entries.begin(), entries.end(), std::uint64_t{0});
}

Result<std::vector<LogLine>> whole_logs(FileSystem& files, const std::string& session_id,
                                        std::vector<LogLine> lines) {
  for (const EntryType type : kEntryTypes) {
    std::uint64_t size = 0;
    for (const LogLine& line : lines) {
      size += line.type == type ? line.size : 0;
    }
    BMAD_TRY_ASSIGN(const auto log, if_there(files.info(log_path(session_id, type))));
    if (log && log->size != size) {
      std::erase_if(lines, [&](const LogLine& line) { return line.type == type; });
    }
  }
  return lines;
}

Status remove_empty_logs(Store& store, const std::string& session_id,
                         const std::bitset<kEntryTypeCount>& types) {
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "delete"));
  for (const EntryType type : kEntryTypes) {
    const std::string path = log_path(session_id, type);
    const Result<FileInfo> log = store.files->info(path);
    if (types[static_cast<std::size_t>(type)] && log && log->size == 0) {
      BMAD_TRY(remove_durably(*store.files, path));
    }
  }
  return {};
}

}  // namespace bmad_mem
