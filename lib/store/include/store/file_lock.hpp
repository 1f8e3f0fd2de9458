// file_lock.hpp - one writer at a time in a session, among all processes and all threads;
// and who it is.
//
//   .lock        byte 0: the lock      byte 1: the gate       (kernel locks; bytes: append_log.hpp)
//   .lock.json   {"pid":..,"pid_start":..,"host":..,"agent_id":..,"operation":..,"acquired_at":..}
//
// Free lock: both bytes are taken in one call and the gate is opened again. Busy lock: wait for the
// gate, then for the lock, then open the gate. Whoever releases the lock and wants it again finds
// the gate closed and queues behind the one who waits: nobody starves. The wait itself happens in
// the kernel, in a helper thread, so that it can be given up on time without polling.
//
// Open-file-description locks, because POSIX record locks vanish when any descriptor of the file is
// closed anywhere in the process. Both kinds exclude each other. Threads: one registry entry per
// (device, inode); its queue comes first, the kernel second. Lock order over files: session,
// shared, archive.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Who asks, what for, and how long to wait; it stands in .lock.json for people.
struct LockRequest {
  std::string_view operation;
  std::string_view agent_id = {};
  std::chrono::milliseconds timeout{5000};
};

/// The lock of one session (or of the root). Threads: safe; each acquire() is a turn of its own.
class FileLock {
 public:
  /// The right to write. Gives the lock back when destroyed. Must not outlive the process's use of
  /// the FileSystem.
  class Guard {
   public:
    Guard(Guard&&) noexcept;
    Guard& operator=(Guard&&) noexcept;
    ~Guard();
    void release();
    /// The lock file, whose bytes no lock needs; see append_log.hpp. While the guard holds.
    [[nodiscard]] File& lock_file() const;

   private:
    friend class FileLock;
    explicit Guard(std::shared_ptr<struct LockEntry> entry);
    std::shared_ptr<struct LockEntry> entry_;
    int pid_;  // Whose guard this is: a forked child has a copy of it.
  };

  /// The lock file `path`, made when missing, and its information file `info_path`. `clock` and
  /// `files` must outlive the lock.
  FileLock(FileSystem& files, const Clock& clock, std::string path, std::string info_path);

  /// Waits for the lock at most `request.timeout`. Not recursive: a thread that asks again while it
  /// holds the lock waits for itself.
  /// Errors: E_LOCK_TIMEOUT, naming the holder where it left its name; E_STORAGE_IO.
  Result<Guard> acquire(const LockRequest& request);

 private:
  Result<std::shared_ptr<struct LockEntry>> current_entry(bool stale);
  [[nodiscard]] Error timed_out(struct LockEntry& waited_for, const LockRequest& request) const;

  FileSystem& files_;
  const Clock& clock_;
  std::string path_;
  std::string info_path_;
  std::mutex mutex_;  // Guards what follows; taken before LockEntry::mutex.
  std::shared_ptr<struct LockEntry> entry_;
  int pid_ = 0;
};

/// Who holds the lock file `path`, as its information file `info_path` says; nothing when nobody
/// does, there is no such file, or the system can't tell. Errors: E_STORAGE_IO.
Result<std::optional<LockHolder>> probe_lock(FileSystem& files, const std::string& path,
                                             const std::string& info_path);

}  // namespace bmad_mem
