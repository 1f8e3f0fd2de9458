// log_cover.cpp - compares a log with what an index covers: by its stat, its stamp or its hash.
#include "search/log_cover.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "base/hash.hpp"
#include "model/entry.hpp"
#include "store/layout.hpp"

namespace bmad_mem {

LogChange compare_log(const LogCover& cover, const std::optional<FileInfo>& now) {
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
  const bool unchanged = now->is_unchanged(cover.file) &&
                         (cover.file.ctime_ns == 0 || now->ctime_ns == cover.file.ctime_ns);
  if (!unchanged || !cover.mtime_is_telling) {
    return LogChange::kMaybeGrown;
  }
  return cover.has_tail ? LogChange::kGrown : LogChange::kNone;
}

LogChange compare_log(const LogCover& cover, const LogLook& look) {
  const LogChange change = compare_log(cover, std::optional(look.file));
  const bool is_known =
      change == LogChange::kMaybeGrown && cover.chain != 0 && look.chain == cover.chain;
  return is_known ? LogChange::kGrown : change;
}

LogLook with_stamp(FileSystem& files, std::string_view session_id, EntryType type,
                   const FileInfo& file) {
  // As long as the log is hashed as quickly as the stamp is read.
  constexpr std::uint64_t kStampedSizeMin = 16U << 10U;
  // A writer may be between its write and its stamp, for some microseconds.
  constexpr int kLooksMax = 3;
  LogLook look{.file = file};
  for (int i = 0; i < kLooksMax && look.file.size >= kStampedSizeMin; ++i) {
    const std::optional<LogStamp> stamp = read_stamp(files, session_id, type);
    if (!stamp) {
      break;
    }
    if (stamp->describes(look.file)) {
      look.chain = stamp->chain;
      break;
    }
    const Result<FileInfo> again = files.info(log_path(session_id, type));
    if (!again || again->kind != FileKind::kRegular) {
      break;  // The next look finds out.
    }
    look.file = *again;
  }
  return look;
}

Result<bool> has_prefix(FileSystem& files, const std::string& path, std::uint64_t size,
                        std::uint64_t hash) {
  constexpr std::uint64_t kChunk = 256U << 10U;
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kRead));
  std::string buffer;
  std::size_t left = 0;  // Of a line that goes on in the next chunk, at the front of `buffer`.
  LineHash lines;
  for (std::uint64_t at = 0; at < size;) {
    const auto wanted = static_cast<std::size_t>(std::min(size - at, kChunk));
    buffer.resize(left + wanted);
    BMAD_TRY_ASSIGN(const std::size_t got,
                    file->read_at(at, std::span(buffer).subspan(left, wanted)));
    if (got == 0 || left > kEntrySizeMax) {
      return false;
    }
    assert(got <= wanted);
    at += got;
    const std::string_view bytes(buffer.data(), left + got);
    std::size_t begin = 0;
    for (std::size_t end = bytes.find('\n', left); end != std::string_view::npos;
         end = bytes.find('\n', begin)) {
      lines.add(bytes.substr(begin, end + 1 - begin));
      begin = end + 1;
    }
    left = bytes.size() - begin;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), left, buffer.begin());
  }
  return left == 0 && lines.value() == hash;
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
