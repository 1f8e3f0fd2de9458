// log_stamp.hpp - what a writer of ours left a log like, so that readers need not hash it again.
//
//   .lock    record of a type: 64 bytes, little-endian, at 64 times the number of the type
//     device 8  inode 8  size 8  mtime 8  ctime 8  chain 8  version 8  XXH3 8
//
// A record is written under the session's lock, behind the write and before the lock is given back,
// without a sync. Its chain stays the same as long as each writer found the log exactly as the
// record said; else it is a new random number. So the states of a log with one chain are made by
// appends of ours alone: each begins with the bytes of those before it. Rewrites leave the record
// as it is: the next writer finds that it does not fit.
//
// What makes "exactly" mean it:
//  - The time of change is set by the writer, to the nanosecond. Kernels stamp with the last tick,
//    up to 4 ms before: an edit within the same tick has another time. A file system that rounds
//    the time gets no record.
//  - Nobody can set ctime: not a backup that is put back with its times and its record, not an
//    edit whose time is put back.
//  - The hash has the boot in it: after a power cut, or on another machine, a record is none.
//
// What it can't tell: bytes that a program without the lock changes in place, keeping the size, in
// the microseconds between a writer's look at the log and the time that it sets. Lines that are
// printed are compared with their hash all the same.
//
// A record that is missing, torn, older or of another file proves nothing, and costs one hash.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"

namespace bmad_mem {

struct LogStamp {
  FileInfo log;             ///< Device, inode, size, mtime and ctime.
  std::uint64_t chain = 0;  ///< Never 0.

  /// Whether a log that looks like `now` is as the writer left it.
  [[nodiscard]] bool describes(const FileInfo& now) const {
    return now.same_file(log) && now.size == log.size && now.mtime_ns == log.mtime_ns &&
           now.ctime_ns == log.ctime_ns;
  }
};

/// The record in `lock_file`, if there is one that holds.
std::optional<LogStamp> read_stamp(File& lock_file, EntryType type);
/// Of session `session_id`.
std::optional<LogStamp> read_stamp(FileSystem& files, std::string_view session_id, EntryType type);

/// Before a write to `log`, under the lock: the chain to go on with. A new one where neither `own`,
/// what this process wrote last, nor the record fits.
std::uint64_t chain_of(File& lock_file, EntryType type, File& log,
                       const std::optional<LogStamp>& own = std::nullopt);

/// Behind a write that ended at `end`, under the lock: what was written. What fails here fails
/// nothing.
std::optional<LogStamp> stamp_log(File& lock_file, EntryType type, File& log, std::uint64_t end,
                                  std::uint64_t chain);

}  // namespace bmad_mem
