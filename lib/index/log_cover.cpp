#include "index/log_cover.hpp"

#include <chrono>

namespace bmad_mem {

LogChange compare_log(const LogCover& cover, const Result<FileInfo>& now) {
  if (!now) {
    return cover.bytes > 0 ? LogChange::kOther : LogChange::kNone;
  }
  if (now->size < cover.bytes) {
    return LogChange::kOther;
  }
  if (!cover.exists()) {
    return now->size > 0 ? LogChange::kMaybeGrown : LogChange::kNone;
  }
  // Another inode is no proof of other bytes: a copied project keeps its checkpoints.
  const bool unchanged = now->same_file(cover.file) && now->size == cover.file.size &&
                         now->mtime_ns == cover.file.mtime_ns;
  return unchanged && cover.mtime_is_telling ? LogChange::kNone : LogChange::kMaybeGrown;
}

bool mtime_is_telling(const FileInfo& file, Timestamp now) {
  using namespace std::chrono_literals;
  constexpr std::chrono::nanoseconds kTick = 50ms;
  // Some file systems count whole seconds (ext3, HFS+), or every other one (FAT).
  constexpr std::chrono::nanoseconds kCoarseTick = 2s;
  const std::chrono::nanoseconds mtime(file.mtime_ns);
  const bool is_coarse = mtime % 1s == 0ns;
  return now.time_since_epoch() - mtime > (is_coarse ? kCoarseTick : kTick);
}

}  // namespace bmad_mem
