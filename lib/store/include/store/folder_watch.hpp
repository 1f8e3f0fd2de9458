// folder_watch.hpp - hearing from the kernel that files in some folders have changed (inotify).
//
//   add("sessions")  add("sessions/s1")      wait() -> {changed: ["sessions/s1"]}
//
// It says in which folders something may have changed, and never what: who asks looks for himself,
// so that a change that was told late, twice or together with others makes no difference. Changes
// below a folder's folders are not told; these are added one by one.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

struct FolderChanges {
  std::vector<std::string> changed;  ///< As they were added, sorted, each once.
  std::vector<std::string> gone;     ///< Watched no more: removed, moved or unmounted.
  bool everything = false;           ///< The kernel lost count: look everywhere.
};

/// Threads: stop() from any; the others from one at a time.
class FolderWatch {
 public:
  /// Watches folders below `root`, an absolute path. Errors: E_STORAGE_IO when the system has no
  /// more such watches for this user.
  static Result<FolderWatch> open(std::string root);
  /// Whether the file system of `root` tells each change of a file's bytes that any program of this
  /// machine makes with write(), and each change of names: a local one that we know. On a network
  /// or a virtual machine's share others change files as well; of an overlay the layers below.
  static bool tells_all(const std::string& root);

  FolderWatch(FolderWatch&&) noexcept;
  FolderWatch& operator=(FolderWatch&&) noexcept;
  ~FolderWatch();

  /// Watches `folder`, relative to the root ("" is the root itself). What happened before is not
  /// told: look after this. False when there is no such folder. Errors: as open().
  Result<bool> add(const std::string& folder);

  /// Waits until something changed, at most `timeout`. Nothing in it when the time was over.
  Result<FolderChanges> wait(std::chrono::milliseconds timeout);

  /// Makes this and every later wait() return at once. Allowed in a signal's handler.
  void stop() noexcept;
  [[nodiscard]] bool is_stopped() const noexcept;

 private:
  struct Impl;
  explicit FolderWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bmad_mem
