#include "index/log_cover.hpp"

#include <chrono>

namespace bmad_mem {

LogChange compare_log(const LogCover& cover, const Result<FileInfo>& now) {
  if (!now) {
    return cover.bytes > 0 ? LogChange::kOther : LogChange::kNone;
  }
  if (!cover.exists()) {
    return now->size > 0 ? LogChange::kMaybeGrown : LogChange::kNone;
  }
  if (now->size < cover.bytes) {
    return LogChange::kOther;
  }
  // Another inode is no proof of other bytes: a copied project keeps its checkpoints.
  const bool unchanged = now->same_file(cover.file) && now->size == cover.file.size &&
                         now->mtime_ns == cover.file.mtime_ns;
  return unchanged && cover.mtime_is_telling ? LogChange::kNone : LogChange::kMaybeGrown;
}

bool mtime_is_telling(const FileInfo& file, Timestamp now) {
  using namespace std::chrono_literals;
  constexpr std::chrono::nanoseconds kTick = 50ms;
  const std::chrono::nanoseconds age =
      now.time_since_epoch() - std::chrono::nanoseconds(file.mtime_ns);
  return age > kTick;
}

}  // namespace bmad_mem
