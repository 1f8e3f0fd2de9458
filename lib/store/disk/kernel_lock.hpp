// kernel_lock.hpp - the system calls behind FileLock: try, wait, release, who.
#pragma once

#include <optional>
#include <string>

#include "base/file_system.hpp"

namespace bmad_mem {

/// The kernel's lock on one open lock file. Only FileLock uses it, one object per lock file and
/// process. A file without descriptor (in memory) is always free: threads are excluded above.
class KernelLock {
 public:
  /// `path` is the file's, as people should see it, for errors.
  KernelLock(std::unique_ptr<File> file, std::string path);
  KernelLock(const KernelLock&) = delete;
  KernelLock& operator=(const KernelLock&) = delete;

  [[nodiscard]] File& file() { return *file_; }
  /// True when the lock is now ours, false when somebody holds it or waits for it.
  Result<bool> try_lock();
  /// Waits as long as it takes.
  Status lock();
  void unlock();
  /// Whether somebody holds the lock, by another descriptor than this one. Takes nothing.
  [[nodiscard]] bool is_held() const;
  /// The process that holds the lock, when the kernel knows it.
  [[nodiscard]] std::optional<int> holder() const;

 private:
  std::unique_ptr<File> file_;
  std::string path_;
};

/// Why `path` can't be locked, and what to do where its file system has no locks.
Error lock_error(int error_number, const std::string& path);

}  // namespace bmad_mem
