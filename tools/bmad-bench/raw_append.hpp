// raw_append.hpp - the least that a durable append can be: lock, write, unlock, fdatasync.
//
// No check, no id, no look at what stands in the file: the floor under every append of ours.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem::bench {

/// A log and a lock file beside it. Each instance locks for itself, also within a process.
class RawAppender {
 public:
  /// Opens `path` for appending and `path`.lock, made when missing.
  static Result<RawAppender> open(const std::string& path);

  RawAppender(RawAppender&&) noexcept;
  RawAppender& operator=(RawAppender&&) = delete;
  ~RawAppender();

  /// Waits for the lock in the kernel as long as it takes.
  Status append(std::string_view line);

 private:
  RawAppender(int log, int lock) : log_(log), lock_(lock) {}

  int log_ = -1;
  int lock_ = -1;
};

/// Sets (F_WRLCK) or clears (F_UNLCK) an open-file-description lock on the whole file.
Status set_whole_file_lock(int descriptor, short type);

}  // namespace bmad_mem::bench
