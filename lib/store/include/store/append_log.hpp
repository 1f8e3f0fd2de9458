// append_log.hpp - one JSONL log: the truth from which everything else is derived;
// and how lines are taken out of it.
//
//   {"id":1,..}\n {"id":2,..}\n {"id":3,..}\n {"id":4,"tex
//   |<------------- whole lines ------------>| |<- torn ->|
//
// An append has two halves. Under the session's lock: prepare() makes sure that the open descriptor
// is the file at the path and that the log ends in a newline; write() adds whole lines with one
// write. Without the lock: sync() makes them durable, so that concurrent writers share one commit
// of the file system's journal. Only then is the entry acknowledged.
//
// Invariant: no byte before the last newline changes; a rewrite makes a new file, so a new inode.
// A failed sync is final: it is never repeated (ext4, xfs and btrfs answer OK the second time and
// have dropped the bytes). What it covered is not acknowledged, and the next prepare() puts a copy
// without it, in new blocks, in the log's place; the refused bytes go to the quarantine. Other
// processes hear of it through the session's line hashes; see refuse().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "store/entry_scanner.hpp"

namespace bmad_mem {

// What a writer of ours left a log like, so that readers need not hash it again.
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

struct LogStamp {
  FileInfo log;             ///< Device, inode, size, mtime and ctime.
  std::uint64_t chain = 0;  ///< Never 0.

  /// Whether a log that looks like `now` is as the writer left it.
  [[nodiscard]] bool describes(const FileInfo& now) const {
    return now.is_unchanged(log) && now.ctime_ns == log.ctime_ns;
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

// A log without some of its lines, put in the place of the old one.
//
//   old:  [line 1\n][line 2\n][line 3\n][line 4\n]        gaps: line 2, line 4
//   new:  [line 1\n][line 3\n]
//
// The new file is durable before it takes the old one's name (see atomic_file.hpp), so a crash
// leaves one or the other. Readers that have the old one open read on in it; writers notice the new
// inode. What must not be lost with the gaps is durable elsewhere before.

/// The bytes from `begin` up to `end`.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Replaces log `path` by a copy without `gaps`, which are ascending and don't overlap; those that
/// touch are fine. `instead`, whole lines, stands where the first gap was. Durable on success. The
/// caller holds the session's lock.
Status rewrite_log_without(FileSystem& files, const std::string& path,
                           std::span<const ByteRange> gaps, std::string_view instead = {});

/// The same; where there is no room for a copy, overwrites `gaps`, whole lines, with spaces, in
/// place: empty lines are not entries. Only for bytes that nothing needs, since a crash in the
/// middle leaves a damaged line. On error the log has every other line: a disk that is full only
/// once the copy is in place overwrites nothing.
Status remove_lines(FileSystem& files, const std::string& path, std::span<const ByteRange> gaps);

/// Longest line accepted, in bytes, without its '\n'.
inline constexpr std::size_t kLineSizeMax = 1U << 20U;

/// Bytes whose sync failed, and XXH3 of them.
struct RefusedRange {
  ByteRange bytes;
  std::uint64_t xxh3 = 0;
};

/// `bytes` of `log` with their hash. Errors: as File::read_at(); E_STORAGE_IO when there are fewer.
Result<RefusedRange> refused_range(File& log, ByteRange bytes);

/// Threads: prepare() and write() under the session's lock; sync() anywhere.
class AppendLog {
 public:
  /// Bytes that were written and are not durable yet.
  struct Written {
    std::uint64_t offset = 0;  ///< Of the first byte in the file.
    std::uint64_t end = 0;
    std::shared_ptr<struct OpenLog> log;  ///< The file they are in, whatever the path is by now.
    bool are_hashes_due = false;          ///< Set and used by SessionWriter.
  };

  /// The log at `path`; torn ends go to the quarantine at `quarantine_path`. `files` and `clock`
  /// must outlive the log. Opens nothing yet.
  AppendLog(FileSystem& files, const Clock& clock, std::string path, std::string quarantine_path);

  /// What another process found refused, in the file with this inode, before the next prepare().
  /// What is no whole lines of that file, or holds other bytes by now, is passed over. Under the
  /// same lock.
  void refuse(std::uint64_t inode, std::vector<RefusedRange> ranges);

  /// Makes the log ready to be appended to, creating it when it is missing. Returns its size.
  /// Errors: as the file system's; the log holds every whole line it held.
  Result<std::uint64_t> prepare();

  /// Appends `lines`: whole lines, each with its '\n'. All or none: a short write is taken back.
  /// Call prepare() first, under the same lock.
  /// Errors: E_STORAGE_FULL, E_STORAGE_IO: the log is unchanged.
  Result<Written> write(std::string_view lines);

  /// What prepare() mended survives power loss. Call it under the same lock.
  Status sync_all();

  /// Waits until what write() wrote survives power loss; threads share one fdatasync.
  /// Errors: E_STORAGE_IO: the lines may be there, but nothing is promised.
  static Status sync(const Written& written);

  /// The file that `written` is in, and what it was when it was opened.
  static File& file_of(const Written& written);
  static const FileInfo& identity_of(const Written& written);
  /// The file that prepare() opened, and what it was then.
  [[nodiscard]] File& file() const;
  [[nodiscard]] FileInfo info() const;
  /// How the last write of this process left it: while it looks the same, nobody else has written.
  [[nodiscard]] const std::optional<LogStamp>& stamp() const { return stamp_; }
  void set_stamp(std::optional<LogStamp> stamp) { stamp_ = stamp; }
  /// Whether prepare() found the end of the log torn.
  [[nodiscard]] bool was_torn() const { return was_torn_; }
  /// What was refused in it and is still there; empty is the rule. Threads: any.
  [[nodiscard]] std::vector<ByteRange> refused() const;
  /// Whether the file that write() wrote to has no name any more: it was replaced or removed.
  static bool is_removed(const Written& written);

 private:
  Status open_at_path();
  Status take_over_refused();
  Status leave_out_refused();

  FileSystem& files_;
  const Clock& clock_;
  std::string path_;
  std::string quarantine_path_;
  std::shared_ptr<struct OpenLog> open_;
  FileInfo at_path_;  // As prepare() saw it.
  std::optional<LogStamp> stamp_;
  std::uint64_t refused_inode_ = 0;
  std::vector<RefusedRange> refused_elsewhere_;
  bool was_torn_ = false;
};

// What to do with bytes after a log's last newline: a crash left them.

/// Offset just behind the last newline before `size`; 0 when there is none.
Result<std::uint64_t> last_line_start(File& log, std::uint64_t size);

/// Makes `log`, which has `size` bytes, above 0, and is open for appending, end in a newline. A
/// complete JSON object gets its newline; anything else is copied to the quarantine, durably, and
/// then cut off. Returns the new size. The caller holds the session's lock.
Result<std::uint64_t> mend_torn_tail(FileSystem& files, File& log, const std::string& path,
                                     const std::string& quarantine_path, std::uint64_t size,
                                     Timestamp now);

// Where bytes go that are in a log but are no entry: kept verbatim, never dropped.
//
//   {"at":"…","file":"conversation.jsonl","line":12,"offset":4711,"size":45,"xxh3":"…",
//    "reason":"…","text":"{\"id\":\"msg"}            or "bytes_base64" where it is not UTF-8 text
//
// Pieces of more than kPieceSize bytes are kept in several lines of rising offset. Keeping the same
// bytes of the same place again adds nothing, so a repair that was interrupted can run again.

/// The quarantine of one session. The caller holds the session's lock.
class Quarantine {
 public:
  static constexpr std::uint64_t kPieceSize = 256U << 10U;

  /// `path` is the quarantine.jsonl. `files` must outlive the object.
  Quarantine(FileSystem& files, std::string path);

  /// Copies `line` of `log`, "conversation.jsonl", to the quarantine; durable after sync(). Errors:
  /// as the file system's; the log is untouched.
  Status keep(File& log, std::string_view file_name, const DamagedLine& line, Timestamp now);

  /// What was kept survives power loss. Call it before the bytes leave the log.
  Status sync();

 private:
  Status open();

  FileSystem& files_;
  std::string path_;
  std::unique_ptr<File> file_;
  bool unsynced_ = false;
  std::set<std::string> known_;  // What the quarantine holds, without the texts.
};

}  // namespace bmad_mem
