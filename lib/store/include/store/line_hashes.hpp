// line_hashes.hpp - what the logs of a session held when they were last durable, and how they
// differ from it: derived, local to this
// machine, ignored by git.
//
//   sessions/ID/.lock.seal.json
//   {"version":1,
//   "logs":{
//   "facts.jsonl":{"bytes":812,"lines":3,"inode":77,"mtime_ns":1763..,"damaged":false,
//                  "replaced_lines":0,"xxh3":"9c..","line_hashes":"0a1b2c3d4e5f60718293a4b5"}},
//   "refused":{
//   "events.jsonl":{"inode":78,"ranges":[[4096,4500,"5d.."]]}}}
//
// line_hashes has 8 hexadecimal digits a line: the low 32 bits of XXH3 of the line without its
// '\n', in the order in which the lines became durable. xxh3 is XXH3 of those digits: a damaged
// record is none. "refused" names bytes whose sync failed, with their XXH3: no writer, of whatever
// process, may write behind them in the same file. What has other bytes by now is not meant.
//
// The file is replaced by rename and not synced. A crash leaves older line hashes or none: lines
// behind the recorded bytes are not checked. A record that covers more than the log is never left
// by a crash: lines are recorded after their sync, and a rewrite drops its log from the record,
// durably, before.
//
// Who changes a record holds the session's lock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "store/append_log.hpp"

namespace bmad_mem {

/// One log, as it was when it was last durable.
struct LogHashes {
  std::uint64_t bytes = 0;    ///< Where the next line to be recorded begins in the file.
  std::uint64_t inode = 0;    ///< Of the file that held them,
  std::int64_t mtime_ns = 0;  ///< and its time of change, when it was recorded last.
  bool is_damaged = false;    ///< They were found changed in a file that nobody had changed.
  std::uint64_t replaced_lines =
      0;  ///< Of `lines`, from the first: those in a file that was replaced.
  std::vector<std::uint32_t> lines;  ///< A hash a line.
};

/// Bytes of one file whose sync failed.
struct RefusedBytes {
  std::uint64_t inode = 0;
  std::vector<RefusedRange> ranges = {};
};

struct LineHashes {
  std::map<std::string, LogHashes, std::less<>> logs;        ///< By name: "facts.jsonl".
  std::map<std::string, RefusedBytes, std::less<>> refused;  ///< The same.
};

/// The record of session `session_id`; an empty one when there is none.
/// Errors: E_STORAGE_CORRUPT, E_SIZE_LIMIT: it is damaged or no record; E_NEWER_VERSION: it is to
/// be left alone; as the file system's.
Result<LineHashes> load_line_hashes(FileSystem& files, std::string_view session_id);

/// Puts `line_hashes` in its place; without a sync.
Status save_line_hashes(FileSystem& files, std::string_view session_id,
                        const LineHashes& line_hashes);

/// The hashes of the whole lines of `log` from `begin`, the start of a line, up to `end`.
/// Errors: E_SIZE_LIMIT beyond kLogSizeMax.
Result<std::vector<std::uint32_t>> hash_lines(File& log, std::uint64_t begin, std::uint64_t end);

/// Makes `line_hashes` cover the whole lines of `log` up to `end`.
Status extend_hashes(File& log, std::uint64_t end, LogHashes& line_hashes);

/// What adopt_file() looks at.
enum class AdoptLook : std::uint8_t {
  kFile,      ///< Inode, size and time: for each append.
  kLastLine,  ///< The last line that was recorded, in place of the time: before more is recorded.
};

/// When something else has replaced or changed what was recorded in `log`, which is `file`, the
/// record goes on in it, and what was recorded before stays to be compared. Returns whether the
/// record has changed.
Result<bool> adopt_file(File& log, const FileInfo& file, LogHashes& line_hashes, AdoptLook look);

/// A new record of the log at `path`, as it is.
Result<LogHashes> hash_log(FileSystem& files, const std::string& path);

/// Runs `rewrite`, which puts another log at `path`; a log that was recorded is recorded again,
/// with what `rewrite` has changed, and nothing else: what differed before differs afterwards. Any
/// other file is only rewritten. Errors: those of `rewrite`; before it, as the file system's.
Status rewrite_recorded(FileSystem& files, const std::string& path,
                        const std::function<Status()>& rewrite);

/// replace_file() for a log, with rewrite_recorded().
Status replace_log(FileSystem& files, const std::string& path, std::string_view bytes);

// How the lines of a log differ from those that were recorded, by their hashes.
//
//   recorded:  a b c d e          lines:  a x c e f        changed 2, lost behind 3; f is new

enum class LineFate : std::uint8_t { kChanged, kLost, kAdded, kDoubled, kMoved };

/// A line that is not as it was recorded.
struct LineDifference {
  LineFate change = LineFate::kChanged;
  std::uint64_t line = 0;   ///< In the log, 1-based; of a lost one, the line it stood behind.
  std::uint64_t count = 1;  ///< Of lines in a row.

  bool operator==(const LineDifference&) const = default;
};

/// How the lines of a log, by their hashes, differ from `recorded`. Lines behind the last recorded
/// one are new, and no difference.
std::vector<LineDifference> compare_lines(std::span<const std::uint32_t> recorded,
                                          std::span<const std::uint32_t> lines);

/// Whether `lines` begin with `front`.
bool begin_with(std::span<const std::uint32_t> lines, std::span<const std::uint32_t> front);

/// How many lines at the end of a log are behind the last recorded one.
std::size_t count_new_lines(std::span<const std::uint32_t> recorded,
                            std::span<const std::uint32_t> lines);

}  // namespace bmad_mem
