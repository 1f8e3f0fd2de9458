// raw_append.hpp - the least that a durable append can be: lock, write, unlock, fdatasync.
//
// No check, no id, no look at what stands in the file: the floor under every append of ours.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "machine.hpp"

namespace bmad_mem::bench {

/// Sets (F_WRLCK) or clears (F_UNLCK) an open-file-description lock on the whole file.
inline void set_whole_file_lock(int descriptor, short type) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  while (::fcntl(descriptor, F_OFD_SETLKW, &range) != 0) {
    if (errno != EINTR) {
      throw system_error("lock", "a raw file");
    }
  }
}

/// A log and a lock file beside it. Each instance locks for itself, also within a process.
class RawAppender {
 public:
  /// Opens `path` for appending and `path`.lock, made when missing.
  explicit RawAppender(const std::string& path)
      : log_(path, O_WRONLY | O_CREAT | O_APPEND), lock_(path + ".lock", O_RDWR | O_CREAT) {}

  /// Waits for the lock in the kernel as long as it takes.
  void append(std::string_view line) {
    set_whole_file_lock(lock_.get(), F_WRLCK);
    const ssize_t written = ::write(log_.get(), line.data(), line.size());
    set_whole_file_lock(lock_.get(), F_UNLCK);
    if (written != static_cast<ssize_t>(line.size()) || ::fdatasync(log_.get()) != 0) {
      throw system_error("append to", "a raw file");
    }
  }

 private:
  Descriptor log_;
  Descriptor lock_;
};

}  // namespace bmad_mem::bench
