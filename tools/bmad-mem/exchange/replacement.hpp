// replacement.hpp - a new file that takes the place of another one: as a whole, or not at all.
//
//   X.bmad-mem.tmp: locked, written, fsync  ->  rename to X  ->  fsync the folder
//
// The name is always the same, so what a killed process left is removed by the next one. Two at a
// time are told apart by a lock.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "descriptor.hpp"

namespace bmad_mem::cli {

/// Where `path` lies behind symbolic links; empty when nothing is there.
std::string real_path_of(const std::string& path);

class FileReplacement {
 public:
  /// Begins a file beside `target`, whose last part is no link; for nobody but its owner to read.
  /// Errors: E_CONCURRENT_MOD when another process is at the same; E_STORAGE_IO, E_STORAGE_FULL.
  static Result<FileReplacement> begin(std::string target);

  FileReplacement(FileReplacement&& other) noexcept;
  FileReplacement& operator=(FileReplacement&&) = delete;
  /// Removes what was written, unless commit() was called.
  ~FileReplacement();

  [[nodiscard]] int descriptor() const { return file_.number(); }
  Status write(std::string_view text);
  /// Puts the file into its place, durable. `over`: what is there goes; without it that is
  /// E_CONCURRENT_MOD. Whatever fails before the rename changes nothing.
  Status commit(bool over);

 private:
  FileReplacement(std::string target, std::string temporary, Descriptor file);
  [[nodiscard]] Status move_over(bool over) const;

  std::string target_;
  std::string temporary_;  // Empty once it is in its place.
  Descriptor file_;
};

/// What is wrong with `path`, from errno.
Error file_error(std::string_view what, const std::string& path, int error);

}  // namespace bmad_mem::cli
