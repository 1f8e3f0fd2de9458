// mapped_file.hpp - a file's bytes in memory without reading them: a checkpoint of many megabytes
// is opened in microseconds, and only the pages that a query touches are ever loaded.
//
// Only for files that are replaced by rename and never changed in place: checkpoints. Whoever maps
// one keeps the old file, whole, for as long as the mapping lives, however often it is replaced.
// A file that is cut under a mapping is another matter: touching a page that is gone kills the
// process (SIGBUS). Logs are cut when a torn end is mended or a short write is taken back, so they
// are read, not mapped.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "core/file_system.hpp"

namespace bmad_mem {

/// Read-only. Movable; views of bytes() live as long as the MappedFile they came from, also when
/// it is moved. Threads: reading is safe from any.
class MappedFile {
 public:
  /// Maps the regular file `path` as it is now. An empty file gives empty bytes. On a file system
  /// without descriptors the bytes are read instead.
  /// Errors: as FileSystem::open(); E_STORAGE_IO when the system refuses the mapping.
  static Result<MappedFile> map(FileSystem& files, const std::string& path);

  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) noexcept;
  ~MappedFile();

  [[nodiscard]] std::string_view bytes() const;
  /// Device, inode and size of the file when it was mapped: to see whether it was replaced.
  [[nodiscard]] const FileInfo& info() const;

 private:
  struct Impl;  // Keeps Boost out of this header.
  explicit MappedFile(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace bmad_mem
