// store_watch.hpp - which folders of a memory have changed since something was found out of them,
// as the kernel tells it: for programs that stay and ask often.
//
//   changed("sessions/s1") = 7     now() = 7     its logs are looked at: as covered
//   look(): an append to s1        now() = 8
//   changed("sessions/s1") = 8     what was found out at 7 does not count any more
//
// A folder is watched before its files are looked at, so that nothing in between is missed. What
// the kernel does not tell (a file that was mapped or has a second name, asynchronous writes, what
// other hosts do) counts after kUnchangedFor: then everything may have changed.
//
// Where nothing can be watched all folders change always, and nobody is told: the user has no more
// watches, or the file system is none that tells everything (see FolderWatch::tells_all()).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

// Hearing from the kernel that files in some folders have changed (inotify).
//
//   add("sessions")  add("sessions/s1")      wait() -> {changed: ["sessions/s1"]}
//
// It says in which folders something may have changed, and never what: who asks looks for himself,
// so that a change that was told late, twice or together with others makes no difference. Changes
// below a folder's folders are not told; these are added one by one.

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

struct Store;

/// Threads: safe.
class StoreWatch {
 public:
  /// Counts changes. What was found out of a folder at one moment holds as long as changed() of it
  /// is no later.
  using Moment = std::uint64_t;
  static constexpr Moment kAlways = std::numeric_limits<Moment>::max();

  /// To sweep a thousand sessions takes some 20 ms: that often it is no burden.
  static constexpr std::chrono::seconds kUnchangedFor{10};
  /// Half of what a user may have where the system has the old limit of 8,192. Each takes 1 KB of
  /// the kernel's memory. Further folders change always.
  static constexpr std::size_t kFoldersMax = 4096;

  /// `store` must outlive it. Nothing is watched before the first look().
  explicit StoreWatch(const Store& store) : store_(store) {}

  /// Takes in what happened until now; a question begins with it.
  void look();
  /// When something in `folder`, relative to the root, changed last, or when it was first asked
  /// for, which is when it begins to be watched. Of a folder that is not there, when the one above
  /// it changed. What is in its folders does not count. kAlways when it can't be watched.
  [[nodiscard]] Moment changed(const std::string& folder);
  /// To be asked after changed() and before the look at the files.
  [[nodiscard]] Moment now() const;

 private:
  void open();
  void drain();
  void give_up();
  Moment changed_in(const std::string& folder);
  Moment begin(const std::string& folder, Moment above);

  const Store& store_;
  mutable std::mutex mutex_;  // Guards what follows.
  Moment now_ = 0;
  std::uint64_t look_ = 0;  // The last look(); see Question.
  bool is_off_ = false;
  std::optional<FolderWatch> watch_;
  FileInfo root_;  // As it was when the watch began.
  Timestamp unchanged_since_{};
  Moment all_changed_ = 0;
  std::map<std::string, Moment, std::less<>> folders_;  // When those that are watched changed.
};

}  // namespace bmad_mem
