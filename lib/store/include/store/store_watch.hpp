// store_watch.hpp - which folders of a memory have changed since something was found out of them,
// as the kernel tells it: for programs that stay and ask often.
//
//   changed("sessions/s1") = 7     now() = 7     its logs are looked at: as covered
//   look(): an append to s1        now() = 8
//   changed("sessions/s1") = 8     what was found out at 7 does not count any more
//
// A folder is watched before its files are looked at, so that nothing in between is missed. What
// the kernel does not tell (a file that was mapped or has a second name, asynchronous writes, what
// other hosts do) counts after kTrustedFor: then everything may have changed.
//
// Where nothing can be watched all folders change always, and nobody is told: the user has no more
// watches, or the file system is none that tells everything (see FolderWatch::tells_all()).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "store/folder_watch.hpp"

namespace bmad_mem {

struct Store;

/// Threads: safe.
class StoreWatch {
 public:
  /// Counts changes. What was found out of a folder at one moment holds as long as changed() of it
  /// is no later.
  using Moment = std::uint64_t;
  static constexpr Moment kAlways = std::numeric_limits<Moment>::max();

  /// To sweep a thousand sessions takes some 20 ms: that often it is no burden.
  static constexpr std::chrono::seconds kTrustedFor{10};
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
  bool is_off_ = false;
  std::optional<FolderWatch> watch_;
  FileInfo root_;  // As it was when the watch began.
  Timestamp trusted_since_{};
  Moment all_changed_ = 0;
  std::map<std::string, Moment, std::less<>> folders_;  // When those that are watched changed.
};

}  // namespace bmad_mem
