#include "index/log_cover.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>

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
  // Another inode is no proof of other bytes: a copied project keeps its index.
  const bool unchanged = now->same_file(cover.file) && now->size == cover.file.size &&
                         now->mtime_ns == cover.file.mtime_ns;
  return unchanged && cover.mtime_is_telling ? LogChange::kNone : LogChange::kMaybeGrown;
}

Result<bool> hash_prefix(FileSystem& files, const std::string& path, std::uint64_t size,
                         Xxh3Stream& hash) {
  constexpr std::uint64_t kChunk = 256U << 10U;
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kRead));
  std::string buffer(static_cast<std::size_t>(std::min(size, kChunk)), '\0');
  for (std::uint64_t at = 0; at < size;) {
    const auto wanted = static_cast<std::size_t>(std::min(size - at, kChunk));
    BMAD_TRY_ASSIGN(const std::size_t got, file->read_at(at, std::span(buffer).first(wanted)));
    if (got == 0) {
      return false;
    }
    hash.add(std::string_view(buffer).substr(0, got));
    at += got;
  }
  return true;
}

Result<std::uint64_t> hash_of_prefix(FileSystem& files, const std::string& path,
                                     std::uint64_t bytes) {
  Xxh3Stream hash;
  BMAD_TRY_ASSIGN(const bool is_whole, hash_prefix(files, path, bytes, hash));
  return is_whole ? Result<std::uint64_t>(hash.value())
                  : Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                          .message = "it has become shorter",
                          .path = files.display_path(path)};
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
