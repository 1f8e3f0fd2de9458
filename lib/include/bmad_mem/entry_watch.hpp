// entry_watch.hpp - hearing of entries as they are written, by whatever process.
//
//   auto watch = bmad_mem::EntryWatch::open(*memory, {.types = {EntryType::kDecision}});
//   while (true) {
//     auto entries = watch->wait(std::chrono::seconds(1));   // Empty when the time is over.
//   }
//
// What is appended after open() is given once, in the order of its log; so are new versions of an
// entry. Rewrites of a log (compaction, redaction, deletion, git) give what they add, never again
// what was there. Costs no thread: the kernel tells what changed (inotify).
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Which of `entries`, in their order, `query` finds now: whether the words match, by their stems,
/// and the filters. Words near an entry don't count, and no other spelling is tried. Of entries
/// that have changed meanwhile, the newest version is looked at; what has gone matches nothing.
/// Session, type, id and timestamp are all that is asked of `entries`. Notes no access. Errors:
/// E_INVALID_QUERY with column; as MemoryManager::query().
Result<std::vector<bool>> match_entries(const MemoryManager& memory, std::string_view query,
                                        std::span<const Entry> entries);

class EntryWatch {
 public:
  /// `filter.limit`, `filter.archived` and `filter.pinned_only` don't count. Sessions that are made
  /// later are watched as well, unless the filter names some. With a `query`, in the language of
  /// `bmad-mem help query`, only what it finds: a live query. `memory` must outlive the watch.
  /// Errors: E_INVALID_QUERY with column; E_STORAGE_IO when the system has no watches left (the
  /// message says which limit), or none at all.
  static Result<EntryWatch> open(const MemoryManager& memory, EntryFilter filter = {},
                                 std::string query = {});

  EntryWatch(EntryWatch&&) noexcept;
  EntryWatch& operator=(EntryWatch&&) noexcept;
  ~EntryWatch();

  /// Waits until something that passes the filter was written, at most `timeout`, and gives all
  /// there is. Empty when there was nothing, or stop() was called. One thread at a time.
  /// Errors: E_SESSION_NOT_FOUND when the memory itself has gone; I/O.
  Result<std::vector<Entry>> wait(std::chrono::milliseconds timeout);

  /// Whether a log was rewritten, so that entries may have gone or changed, since this was asked
  /// last. Says what wait() has seen.
  [[nodiscard]] bool take_rewritten();

  /// Makes this and every later wait() return at once. From any thread, and from a signal's
  /// handler.
  void stop() noexcept;
  /// Whether stop() was called.
  [[nodiscard]] bool is_stopped() const noexcept;

 private:
  struct Impl;
  explicit EntryWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bmad_mem
