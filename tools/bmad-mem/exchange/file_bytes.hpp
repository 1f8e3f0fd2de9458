// file_bytes.hpp - the bytes of a file as they were before they were packed, in a stream.
//
//   file, stdin       as it is
//   zstd (its magic)  unpacked: Codex packs rollouts that it does not need
//   member of a zip   stored or deflated: what ChatGPT and Claude.ai send
//
// Nothing is unpacked to disk. Who packs a file decides how large it becomes: more than 256 MiB and
// 200 times the packed bytes are an error, and members of a zip that share bytes are, too. So no
// file costs more time than one of 200 times its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "cli/program.hpp"

namespace bmad_mem::cli {

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

class FileBytes {
 public:
  /// Opens a regular file, stdin for "-", or `member` of the zip at `path`. Errors: E_STORAGE_IO.
  static Result<FileBytes> open(const std::string& path, const ZipMember* member = nullptr);
  FileBytes(FileBytes&&) noexcept;
  FileBytes& operator=(FileBytes&&) noexcept;
  ~FileBytes();

  /// The next bytes into `out`, at most `size`; their number, 0 at the end. Errors: E_STORAGE_IO;
  /// E_INVALID_FORMAT for damage; E_SIZE_LIMIT for a bomb.
  Result<std::size_t> read(char* out, std::size_t size);

  /// How many bytes of the file itself are read.
  [[nodiscard]] std::uint64_t packed_read() const { return packed_read_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Unpacker;
  FileBytes(Descriptor file, std::string path);
  Result<std::size_t> read_file(char* out, std::size_t size);
  /// Reads a piece of the file unless some of the last is left.
  Status fill();

  Descriptor file_;
  std::string path_;
  std::uint64_t left_ = UINT64_MAX;  ///< Bytes of the file that may be read: those of a member.
  std::uint64_t packed_read_ = 0;
  std::uint64_t unpacked_ = 0;
  std::string packed_;  ///< Bytes of the file; from begin_ on they are not given out.
  std::size_t begin_ = 0;
  std::unique_ptr<Unpacker> unpacker_;  ///< Null: the bytes are as they are.
};

}  // namespace bmad_mem::cli
