// append_log.hpp - one JSONL log: the truth from which everything else is derived.
//
//   {"id":1,..}\n {"id":2,..}\n {"id":3,..}\n {"id":4,"tex
//   |<------------- whole lines ------------>| |<- torn ->|
//
// An append has two halves. Under the session's lock: prepare() makes sure that the open descriptor
// is the file at the path and that the log ends in a newline; write() adds whole lines with one
// write. Without the lock: sync() makes them durable, so that concurrent writers share one commit
// of the file system's journal. Only then is the entry acknowledged.
//
// Invariant: no byte before the last newline changes; a rewrite makes a new file, so a new inode.
// A failed sync is final: it is never repeated (ext4, xfs and btrfs answer OK the second time and
// have dropped the bytes). What it covered is not acknowledged, and the next prepare() puts a copy
// without it in the log's place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "core/file_system.hpp"

namespace bmad_mem {

/// Longest line accepted, in bytes, without its '\n'.
inline constexpr std::size_t kLineSizeMax = 1U << 20U;

/// Threads: prepare() and write() under the session's lock; sync() anywhere.
class AppendLog {
 public:
  /// Bytes that were written and are not durable yet.
  struct Written {
    std::uint64_t offset = 0;  ///< Of the first byte in the file.
    std::uint64_t end = 0;
    std::shared_ptr<struct OpenLog> log;  ///< The file they are in, whatever the path is by now.
  };

  /// The log at `path`; torn ends go to the quarantine at `quarantine_path`. `files` and `clock`
  /// must outlive the log. Opens nothing yet.
  AppendLog(FileSystem& files, const Clock& clock, std::string path, std::string quarantine_path);

  /// Makes the log ready to be appended to, creating it when it is missing. Returns its size.
  /// Errors: as the file system's; the log holds every whole line it held.
  Result<std::uint64_t> prepare();

  /// Appends `lines`: whole lines, each with its '\n'. All or none: a short write is taken back.
  /// Call prepare() first, under the same lock.
  /// Errors: E_STORAGE_FULL, E_STORAGE_IO: the log is unchanged.
  Result<Written> write(std::string_view lines);

  /// What prepare() mended survives power loss. Call it under the same lock.
  Status sync_all();

  /// Waits until what write() wrote survives power loss; threads share one fdatasync.
  /// Errors: E_STORAGE_IO: the lines may be there, but nothing is promised.
  static Status sync(const Written& written);

 private:
  Status open_current(const FileInfo* at_path);
  Status leave_out_unacknowledged();
  Result<std::uint64_t> mend_torn_end(std::uint64_t size);

  FileSystem& files_;
  const Clock& clock_;
  std::string path_;
  std::string quarantine_path_;
  std::shared_ptr<struct OpenLog> open_;
};

}  // namespace bmad_mem
