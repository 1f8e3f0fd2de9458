// file_lines.hpp - a file line by line, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "cli/program.hpp"

namespace bmad_mem::cli {

// The bytes of a file as they were before they were packed, in a stream.
//
//   file, stdin       as it is
//   zstd (its magic)  unpacked: Codex packs rollouts that it does not need
//   member of a zip   stored or deflated: what ChatGPT and Claude.ai send
//
// Nothing is unpacked to disk. Who packs a file decides how large it becomes: more than 256 MiB and
// 200 times the packed bytes are an error, and members of a zip that share bytes are, too. So no
// file costs more time than one of 200 times its size.

/// A file in a zip.
struct ZipMember {
  std::string name;          ///< As the zip has it: nothing is written under this name.
  std::uint64_t offset = 0;  ///< Of its header in the zip.
  std::uint64_t size = 0;    ///< Packed.
  bool is_deflated = false;
};

/// Whether a file that begins so is a zip.
bool is_zip(std::string_view beginning);

/// The files in the zip at `path` that can be read, in its order; folders, and members that are
/// encrypted or packed otherwise are left out. Errors: E_STORAGE_IO; E_INVALID_FORMAT when it is
/// damaged, a ZIP64, or its members share bytes.
Result<std::vector<ZipMember>> zip_members(const std::string& path);

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

  /// Opens a regular file, stdin for "-", or `member` of the zip at `path`. Errors: E_STORAGE_IO.
  static Result<FileLines> open(const std::string& path,
                                const std::optional<ZipMember>& member = {});
  FileLines(FileLines&&) noexcept;
  ~FileLines();

  /// Gives out lines up to this size, instead of kLineSizeMax.
  void allow_lines_of(std::size_t size) { line_size_max_ = size; }

  /// The beginning of the file, as far as the first chunk goes. Only before next().
  Result<std::string_view> beginning();
  /// The same, with the whole first line if it has at most kForeignLineSizeMax bytes.
  Result<std::string_view> first_line();

  /// The next line into `line`; false at the end. A last line without a line break counts.
  /// Errors: E_STORAGE_IO; E_INVALID_FORMAT for damage; E_SIZE_LIMIT for a bomb. So for the others.
  Result<bool> next(FileLine& line);

  /// What is read and was not given out yet, or the next chunk; empty at the end. Valid until the
  /// next call. For what has no lines.
  Result<std::string_view> chunk();

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Of the file itself.
  [[nodiscard]] std::uint64_t bytes_read() const { return raw_read_; }

 private:
  struct Unpacker;

  FileLines(Descriptor file, std::string path);
  Result<std::size_t> read_file(char* out, std::size_t size);
  /// Reads a piece of the file unless some of the last is left.
  Status fill_raw();
  /// The next bytes into `out`, unpacked, at most `size`; their number, 0 at the end.
  Result<std::size_t> read(char* out, std::size_t size);
  /// Reads a chunk behind what is there; at_end_ when there is none.
  Status fill();
  /// Drops the rest of a line that is too long.
  Status skip_line();

  Descriptor file_;
  std::string path_;
  std::uint64_t left_ = UINT64_MAX;  ///< Bytes of the file that may be read: those of a member.
  std::uint64_t raw_read_ = 0;
  std::uint64_t unpacked_ = 0;
  std::string raw_;  ///< Bytes of the file; from raw_begin_ on they are not given out.
  std::size_t raw_begin_ = 0;
  std::unique_ptr<Unpacker> unpacker_;  ///< Null: the bytes are as they are.
  std::vector<char> buffer_;  // What is left of the file's bytes lies from begin_ to end_.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::size_t line_size_max_ = kLineSizeMax;
  std::uint64_t number_ = 0;
};

}  // namespace bmad_mem::cli
