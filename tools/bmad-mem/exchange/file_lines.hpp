// file_lines.hpp - a file line by line, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "exchange/file_bytes.hpp"

namespace bmad_mem::cli {

struct FileLine {
  /// Without its line break; kJsonPadding bytes behind it can be read. Valid until the next line.
  std::string_view text;
  std::uint64_t number = 0;  ///< From 1.
  bool too_long = false;     ///< Longer than allowed: `text` is empty.
};

/// Holds no more than one line and one chunk.
class FileLines {
 public:
  /// The longest entry, and what an export puts in front of it.
  static constexpr std::size_t kLineSizeMax = (1U << 20U) + 512;

  /// The longest line of a foreign file: a prompt with its screenshots.
  static constexpr std::size_t kForeignLineSizeMax = std::size_t{32} << 20U;

  /// Opens a regular file, stdin for "-", or a member of the zip at `path`. Errors: E_STORAGE_IO.
  static Result<FileLines> open(const std::string& path, const ZipMember* member = nullptr);

  /// Gives out lines up to this size, instead of kLineSizeMax.
  void allow_lines_of(std::size_t size) { line_size_max_ = size; }

  /// The beginning of the file, as far as the first chunk goes. Only before next().
  Result<std::string_view> beginning();
  /// The same, with the whole first line if it has at most kForeignLineSizeMax bytes.
  Result<std::string_view> first_line();

  /// The next line into `line`; false at the end. A last line without a line break counts.
  /// Errors: E_STORAGE_IO.
  Result<bool> next(FileLine& line);

  /// What is read and was not given out yet, or the next chunk; empty at the end. Valid until the
  /// next call. For what has no lines. Errors: E_STORAGE_IO.
  Result<std::string_view> chunk();

  [[nodiscard]] const std::string& path() const { return bytes_.path(); }
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_.packed_read(); }

 private:
  explicit FileLines(FileBytes bytes);
  /// Reads a chunk behind what is there; at_end_ when there is none.
  Status fill();
  /// Drops the rest of a line that is too long.
  Status skip_line();

  FileBytes bytes_;
  std::vector<char> buffer_;  // What is left of the file's bytes lies from begin_ to end_.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::size_t line_size_max_ = kLineSizeMax;
  std::uint64_t number_ = 0;
};

}  // namespace bmad_mem::cli
