// kernel_lock.hpp - what is behind FileLock: the system calls, and what the holder leaves.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/lifecycle.hpp"

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

// What the holder of a lock leaves in .lock.json for people who wait.

/// Overwrites the information file with this process's name. Information only: what fails here is
/// nobody's error, and nothing is synced.
void write_lock_info(File& info_file, std::string_view operation, std::string_view agent_id,
                     Timestamp now);

/// Who it is, if that can be told: from `kernel_pid` where the kernel names the holder, else from
/// the information file when that process still runs. `session_id` stays empty.
LockHolder read_lock_holder(File& info_file, std::optional<int> kernel_pid);

}  // namespace bmad_mem
