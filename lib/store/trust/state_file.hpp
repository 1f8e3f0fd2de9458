// state_file.hpp - files of the state folder: open, locked, and replaced as a whole. No link is
// followed.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "store/posix_file_system.hpp"

namespace bmad_mem {

class OpenFile : public Descriptor {
 public:
  OpenFile(const std::string& path, int flags)
      : Descriptor(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}

  [[nodiscard]] std::size_t size() const {
    struct stat about{};
    return ::fstat(get(), &about) == 0 ? static_cast<std::size_t>(about.st_size) : 0;
  }
  /// Writes all of `bytes`, or says false.
  [[nodiscard]] bool write(std::string_view bytes) const {
    assert(is_open());
    return ::write(get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  }
};

/// The file at `path` with a lock. The lock is a file of its own: whoever waits for one that is
/// then replaced has to begin again, and may wait for ever.
class LockedFile {
 public:
  explicit LockedFile(const std::string& path) : lock_(path + ".lock", O_RDWR | O_CREAT) {
    if (lock_.is_open() && ::flock(lock_.get(), LOCK_EX) == 0) {
      file_.emplace(path, O_RDWR | O_APPEND | O_CREAT);
    }
  }

  /// Null when there is none to be had.
  [[nodiscard]] const OpenFile* get() const {
    return file_ && file_->is_open() ? &*file_ : nullptr;
  }

 private:
  OpenFile lock_;
  std::optional<OpenFile> file_;
};

/// Puts `parts` in the place of the file at `path`, durably unless told otherwise. `fresh` is their
/// name until then, and what a process left there that died is written over. On false, with errno,
/// it is as it was.
inline bool replace_whole(const std::string& path, const std::string& fresh,
                          std::initializer_list<std::string_view> parts, bool is_durable = true) {
  assert(fresh != path);
  const OpenFile file(fresh, O_WRONLY | O_CREAT | O_TRUNC);
  bool is_written = file.is_open();
  for (const std::string_view part : parts) {
    is_written = is_written && file.write(part);
  }
  if (!is_written || (is_durable && ::fsync(file.get()) != 0) ||
      std::rename(fresh.c_str(), path.c_str()) != 0) {
    const int failed = errno;
    ::unlink(fresh.c_str());
    errno = failed;
    return false;
  }
  const OpenFile folder(path.substr(0, path.rfind('/')), O_RDONLY | O_DIRECTORY);
  static_cast<void>(is_durable && folder.is_open() && ::fsync(folder.get()) == 0);
  return true;
}

}  // namespace bmad_mem
