// line_reader.hpp - a log, line by line, in bounded memory.
//
//   file:    ....line 7\n line 8\n li          ne 9\n tor
//   buffer:            [line 8\n li|           next chunk|  + kJsonPadding readable bytes]
//
// Reads with pread in chunks instead of mapping: a file that is cut short under a mapping (a hand
// edit, a rolled back write) kills the reader with SIGBUS. Bytes after the last newline are not a
// line; a concurrent writer may be in the middle of them. The reader looks at the file's size once,
// at the start, so that a busy writer cannot keep it going for ever.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "store/entry_scanner.hpp"

namespace bmad_mem {

/// What is larger is no log of ours, but damage or a sparse file: twice the largest quota that a
/// config may set.
inline constexpr std::uint64_t kLogSizeMax = std::uint64_t{8} << 30U;

/// Errors: E_SIZE_LIMIT for a log at `path` of more than kLogSizeMax bytes.
Status check_log_size(const FileSystem& files, const std::string& path, std::uint64_t size);

/// Calls `use` with each line of `text`, also with one that has no end.
template <typename Use>
void for_each_text_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    use(take_line(text));
  }
}

/// As for_each_text_line(), with the '\n' of each line that has one.
template <typename Use>
void for_each_whole_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::string_view begin = text;
    use(begin.substr(0, take_line(text).size() + 1));
  }
}

/// The lines of `text` that have an end: what follows the last newline is torn.
inline std::string_view whole_lines(std::string_view text) {
  return text.substr(0, text.rfind('\n') + 1);  // npos + 1 is 0.
}

/// Where in `file`, from `begin` to `end`, `bytes` first are; `end` where they are not. Reads piece
/// by piece. Errors: as the file's.
Result<std::uint64_t> find_bytes(File& file, std::uint64_t begin, std::uint64_t end,
                                 std::string_view bytes);

/// One line of a log.
struct Line {
  /// Without its '\n'; kJsonPadding readable bytes follow. Valid until the next call of next().
  /// Empty when `too_long`.
  std::string_view text = {};
  std::uint64_t offset = 0;  ///< Of the first byte in the file.
  std::uint64_t size = 0;    ///< In bytes, without the '\n'.
  std::uint64_t number = 0;  ///< 1-based.
  bool too_long = false;     ///< Longer than the reader's limit; its bytes were passed over.
};

/// Reads the lines of `file` from byte 0, or from another line's start.
class LineReader {
 public:
  /// Lines above `line_size_max` bytes are reported without their text.
  LineReader(File& file, std::uint64_t line_size_max);

  /// Starts at `offset`, which must be the start of line `number`, instead of at the top.
  void seek(std::uint64_t offset, std::uint64_t number);

  /// The next line into `line`; false at the end. Errors: as File::read_at.
  Result<bool> next(Line& line);

  /// After next() said false: where the last whole line ends.
  [[nodiscard]] std::uint64_t whole_end() const { return line_offset_; }
  /// After next() said false: how many bytes follow the last newline.
  [[nodiscard]] std::uint64_t torn_size() const { return end_ - line_offset_; }

 private:
  Result<bool> fill();
  Result<bool> pass_over_long_line(Line& line);

  File& file_;
  std::uint64_t line_size_max_;
  std::string buffer_;
  std::size_t begin_ = 0;          // Of the next line in the buffer.
  std::size_t filled_ = 0;         // Bytes of the buffer that hold file content.
  std::uint64_t line_offset_ = 0;  // Of the next line in the file.
  std::uint64_t line_number_ = 1;
  std::uint64_t end_ = 0;  // Size of the file when it was first looked at.
  bool started_ = false;
};

// What was added to one log since somebody looked last.
//
//   {"id":1}\n {"id":2}\n {"id":3}\n {"id":4,"te          appended: 3 is given, 4 not yet
//   |<-- covered --->|   |<- given ->|
//
//   a new file, or bytes that don't go on there: rewritten. Then what carries an id and a time that
//   were not there before is given, and nothing else: a rewrite that takes lines out, blackens or
//   marks them changes neither.
//
// A version that was stated with the time of an older one, and whose log was rewritten before
// anybody looked, is missed.
//
// Of a long log that was only noted, no line was read before the first look. If it was rewritten by
// then, its times say what is new.

class LogFollower {
 public:
  LogFollower(std::string path, EntryType type) : path_(std::move(path)), type_(type) {}

  /// Takes the log at `now` as read: of a long one, its end alone is looked at. Errors: as look().
  Status note(FileSystem& files, JsonParser& parser, Timestamp now);

  /// Adds to `added`, unless it is null, what came since the last call, in the order of the log;
  /// everything there is the first time. A log that isn't there has nothing. Errors: as the file
  /// system's.
  Status look(FileSystem& files, JsonParser& parser, std::vector<TableEntry>* added);

  /// Whether what the earlier looks found may have gone or changed, since this was asked last.
  [[nodiscard]] bool take_rewritten() { return std::exchange(rewritten_, false); }

 private:
  struct Found {
    std::optional<TableEntry> entry = {};  // Where it is wanted.
    std::uint64_t id_hash = 0;
    std::uint64_t version_hash = 0;
  };

  Result<std::uint64_t> end_hash(FileSystem& files, std::uint64_t end) const;
  Result<bool> goes_on(FileSystem& files, const FileInfo& info) const;
  Result<bool> look_once(FileSystem& files, JsonParser& parser, std::vector<TableEntry>* added);
  void keep(std::vector<Found> found, bool rewritten, std::vector<TableEntry>* added);

  std::string path_;
  EntryType type_;
  bool known_ = false;  // Whether there is a file whose first covered_ bytes were looked at.
  bool rewritten_ = false;
  std::optional<Timestamp> noted_;  // When, as long as the covered bytes were not read.
  FileInfo file_;
  std::uint64_t covered_ = 0;   // Where the last whole line ends that was looked at.
  std::uint64_t end_hash_ = 0;  // Of the last covered bytes: they say whether it is still the log.
  std::uint64_t next_line_ = 1;
  std::unordered_map<std::uint64_t, std::uint64_t> versions_;  // By hash of the id.
  std::unordered_set<std::uint64_t> seen_;                     // Hashes of id and time.
};

}  // namespace bmad_mem
