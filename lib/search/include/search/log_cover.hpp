// log_cover.hpp - how much of a log an index has taken in, and whether that still holds.
//
//   log    |<-------- bytes -------->|<- tail ->| torn
//           hash of these very lines
//
// Size, inode and mtime decide in a microsecond that nothing changed. When they differ, the stamp
// that our writers leave (storage/append_log.hpp) may say that they only appended; else the hash of
// the covered lines decides. Where these hold, what follows is the tail. Anything else (a hand
// edit, a checkout, a rewrite) and the session is indexed again.
//
// Why a stamp is believed. All states of a log with one chain begin with the bytes of those before,
// and no two have one size. A cover has a chain only if a stamp of it described the log as it was
// looked at *before* the covered bytes were read, and no byte behind that size was covered: so
// these are a beginning of a state of the chain. When a later look finds the log as a stamp of the
// same chain says, it is a state of the chain, too: of at least the covered size, it begins with
// the covered bytes. That is said of the bytes, so it doesn't matter which file is where, and in
// which order look and stamp are taken, as long as both are taken before the tail is read: what is
// appended, edited or replaced after the look has another size, time or inode, and is seen at the
// next one. An append between look and stamp makes them differ, which proves nothing and costs
// another look, or the hash.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/text.hpp"
#include "store/append_log.hpp"

namespace bmad_mem {

struct LogCover {
  std::uint64_t bytes = 0;  ///< Whole lines that were taken in.
  std::uint64_t lines = 0;
  std::uint64_t hash = 0;  ///< Of those lines, a LineHash.
  /// The log when it was last looked at; all 0: there was none. Without ctime, where the mtime is
  /// telling by its age: backups and `chmod` change ctime.
  FileInfo file;
  /// Whether `file` alone may say that nothing changed. Not, when the log had been written to so
  /// shortly before that another change could leave the same mtime.
  bool mtime_is_telling = false;
  std::uint64_t chain = 0;  ///< Of the stamp, whose states begin with these lines; 0: of none.
  /// `file` was seen to begin with the covered lines; those behind were not taken in.
  bool has_tail = false;
  std::uint64_t encrypted = 0;  ///< Of those lines, encrypted ones: no index has what they say.
  bool was_hashed = false;      ///< It took the hash to find that these lines are still there.

  [[nodiscard]] bool exists() const { return file.inode != 0; }
};

/// One for each type, in the order of the enum.
using LogCovers = std::array<LogCover, kEntryTypeCount>;

enum class LogChange : std::uint8_t {
  kNone,
  kGrown,       ///< The covered lines are there, and others behind them.
  kMaybeGrown,  ///< The covered lines may still be there: their hash decides.
  kOther,
};

/// What a log looks like, and the chain of the stamp that says the same; 0: none does.
struct LogLook {
  FileInfo file;
  std::uint64_t chain = 0;
};

/// What `now` (nothing: there is no log) says about a log that was covered. Reads no content.
LogChange compare_log(const LogCover& cover, const std::optional<FileInfo>& now);
/// The same, with what the stamp says.
LogChange compare_log(const LogCover& cover, const LogLook& look);

/// `file` with its stamp. Looks again while a writer is between its write and its stamp.
LogLook with_stamp(FileSystem& files, std::string_view session_id, EntryType type,
                   const FileInfo& file);

/// Whether the first `size` bytes of the log at `path` are lines with that LineHash.
Result<bool> has_prefix(FileSystem& files, const std::string& path, std::uint64_t size,
                        std::uint64_t hash);

/// Whether a log with `file` can't change any more without a new mtime, as seen at `now`: clocks of
/// file systems tick every few milliseconds only.
bool mtime_is_telling(const FileInfo& file, Timestamp now);

}  // namespace bmad_mem
