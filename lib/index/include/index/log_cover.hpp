// log_cover.hpp - how much of a log an index has taken in, and whether that still holds.
//
//   log    |<-------- bytes -------->|<- tail ->| torn
//           hash of these very bytes
//
// Size, inode and mtime decide in a microsecond that nothing changed. When they differ but the
// covered bytes still have their hash, what follows is the tail. Anything else (a hand edit, a
// checkout, a rewrite) and the session is indexed anew.
#pragma once

#include <array>
#include <cstdint>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"
#include "core/file_system.hpp"
#include "core/hash.hpp"

namespace bmad_mem {

struct LogCover {
  std::uint64_t bytes = 0;  ///< Whole lines that were taken in.
  std::uint64_t lines = 0;
  std::uint64_t xxh3 = 0;  ///< Of those bytes.
  FileInfo file;           ///< The log when it was last looked at; all 0: there was none.
  /// Whether `file` alone may say that nothing changed. Not, when the log had been written to so
  /// shortly before that another change could leave the same mtime.
  bool mtime_is_telling = false;

  [[nodiscard]] bool exists() const { return file.inode != 0; }
};

/// One for each type, in the order of the enum.
using LogCovers = std::array<LogCover, kEntryTypeCount>;

enum class LogChange : std::uint8_t {
  kNone,
  kMaybeGrown,  ///< The covered bytes may still be there: their hash decides.
  kOther,
};

/// What `now` (nothing: there is no log) says about a log that was covered. Reads no content.
LogChange compare_log(const LogCover& cover, const Result<FileInfo>& now);

/// Adds the first `size` bytes of the log at `path` to `hash`. False when it has fewer.
Result<bool> hash_prefix(FileSystem& files, const std::string& path, std::uint64_t size,
                         Xxh3Stream& hash);

/// XXH3 of the first `bytes` of the log at `path`. Errors: E_STORAGE_CORRUPT when it has fewer; as
/// the file system's.
Result<std::uint64_t> hash_of_prefix(FileSystem& files, const std::string& path,
                                     std::uint64_t bytes);

/// Whether a log with `file` can't change any more without a new mtime, as seen at `now`: clocks of
/// file systems tick every few milliseconds only.
bool mtime_is_telling(const FileInfo& file, Timestamp now);

}  // namespace bmad_mem
