// access_log.hpp - how often and when entries of a session were returned: its access.jsonl.
//
//   {"at":"2026-01-12T09:00:00Z","count":3,"ids":["msg-1"]}    folded: so often each, last in that
//   {"at":"2026-01-12T09:00:00Z","ids":["fact-4","msg-7"]}     hour; sorted
//   {"at":"2026-01-12T09:30:07Z","ids":["msg-1","dec-1"]}      appended: what one query returned
//   {"id":"msg-7","count":1,"last":"2026-01-11T10:00:00Z"}     folded by version 0.1: read as well
//
// Local and derived: losing it costs a little of the ranking. So nothing waits for it. Processes
// append beside each other, each with one write, without lock or sync; a line that can't be read is
// passed over. Whoever finds the log full folds it, if nobody holds the session's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Most bytes to which a log grows by appending. Its scan takes half a millisecond.
inline constexpr std::uint64_t kAccessLogSizeMax = 256U << 10U;

/// Most bytes that stay when a log is folded: half of it is free for what comes.
inline constexpr std::uint64_t kFoldedAccessLogSizeMax = kAccessLogSizeMax / 2;

/// Most ids that stay; with long ids fewer.
inline constexpr std::size_t kFoldedAccessesMax = 5'000;

struct Access {
  std::uint64_t count = 0;
  Timestamp last{};  ///< The latest time, whatever the order of the lines.
};

/// What a log says. Moves keep the views of entries() valid.
class AccessTable {
 public:
  AccessTable() = default;
  AccessTable(AccessTable&&) noexcept = default;
  AccessTable& operator=(AccessTable&&) noexcept = default;
  AccessTable(const AccessTable&) = delete;
  AccessTable& operator=(const AccessTable&) = delete;
  ~AccessTable() = default;

  /// nullptr when the entry was never returned.
  [[nodiscard]] const Access* find(std::string_view id) const;
  [[nodiscard]] const std::unordered_map<std::string_view, Access>& entries() const {
    return entries_;
  }
  /// Bytes of the log, 0 when there is none: whether it is worth folding.
  [[nodiscard]] std::uint64_t log_size() const { return log_size_; }
  /// Whole lines that were passed over.
  [[nodiscard]] std::size_t damaged_count() const { return damaged_count_; }

 private:
  friend class AccessReader;

  std::deque<std::string> texts_;  // What the keys point into: a deque's strings stay in place.
  std::unordered_map<std::string_view, Access> entries_;
  std::uint64_t log_size_ = 0;
  std::size_t damaged_count_ = 0;
};

/// Notes that `ids` were returned at `now`; an id that stands there twice was returned twice. One
/// line, one write, of as many ids as a line may have; nothing at all for no ids. A full log is
/// folded first. Never makes the session's folder. Callers may ignore the outcome.
/// Errors: E_SIZE_LIMIT when the log is full and can't be folded now; E_STORAGE_FULL; E_STORAGE_IO,
/// also for a session without a folder.
Status append_accesses(FileSystem& files, const Clock& clock, std::string_view session_id,
                       std::span<const std::string> ids, Timestamp now);

/// The accesses of a session; none, after one system call, when it has no log. Bytes after the last
/// newline and damaged lines are passed over.
/// Errors: E_STORAGE_IO; E_SIZE_LIMIT for a log that is far too large to be ours.
Result<AccessTable> read_accesses(FileSystem& files, std::string_view session_id);

/// Rewrites the log with the ids that `keep` wants and that have room, the ones returned last, and
/// the hour of that. A log of which nothing stays is removed. The caller holds the session's lock:
/// two folders would share the name of the temporary file. What is appended meanwhile is lost.
/// Errors: as read_accesses(); the log is then as it was.
Status fold_accesses(FileSystem& files, std::string_view session_id,
                     const std::function<bool(std::string_view id)>& keep);

// Which entries were returned, gathered in memory and written now and then.
//
// Nobody waits for it: a note is one line for each session that had something to return, without
// waiting or sync, after many notes or at the end of the process. What gets lost is no loss.
// Threads: safe.

class AccessNotes {
 public:
  /// Notes that entry `id` of `session_id` was returned at `now`.
  void note(const std::string& session_id, const std::string& id, Timestamp now);
  /// Writes what was noted if it is much.
  void write_if_many(FileSystem& files, const Clock& clock);
  /// Writes what was noted.
  void write(FileSystem& files, const Clock& clock);

 private:
  static constexpr std::size_t kMany = 512;  // 20 hits each: about one write in 25 queries.

  std::mutex mutex_;                                                  // Guards what follows.
  std::map<std::string, std::vector<std::string>, std::less<>> ids_;  // By session.
  std::size_t count_ = 0;
  Timestamp last_{};
};

// The two forms of a line in access.jsonl, read without a JSON parser.
//
// Every query reads these files, and their lines are our own, without blanks and in one order: a
// scan by hand takes a fifth of the time. What is JSON but not in our form, as after an edit by
// hand, goes to the parser.

/// What one line says: one id or several ones, `count` times each.
struct AccessLine {
  std::vector<std::string_view> ids;
  std::uint64_t count = 1;
  Timestamp last{};
};

/// Reads `text`, a line without its '\n', into `line`, whose buffers are used again. False when it
/// isn't exactly in one of our forms; `line` is then undefined.
bool scan_access_line(std::string_view text, AccessLine& line);

}  // namespace bmad_mem
