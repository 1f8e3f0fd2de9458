// output_file.hpp - a file that is there as a whole or not at all.
#pragma once

#include <optional>
#include <string>

#include "bmad_mem/result.hpp"
#include "command.hpp"
#include "exchange/replacement.hpp"
#include "output.hpp"

namespace bmad_mem::cli {

inline constexpr Option kOutputOption = {
    .name = "output",
    .letter = 'o',
    .value = "FILE",
    .help = "write this file, whole or not at all, instead of stdout",
    .completion = Completion::kFile};
inline constexpr Option kForceOption = {.name = "force", .help = "replace FILE when it is there"};

class OutputFile {
 public:
  /// Begins the file `path`, for nobody but its owner to read. With `force` it may take the place
  /// of a regular file. Errors: E_CONCURRENT_MOD when it is there; E_STORAGE_IO.
  static Result<OutputFile> create(const std::string& path, bool force);

  [[nodiscard]] Output& out() { return out_; }
  /// Whether all that was written so far could be. Errors: E_STORAGE_FULL, E_STORAGE_IO.
  [[nodiscard]] Status check() const;
  /// Puts the file into its place; durable on success. Errors: as check(), and as create().
  Status commit();

 private:
  OutputFile(std::string path, FileReplacement file, bool force);

  std::string path_;
  FileReplacement file_;  // Removed again, unless commit() was called.
  bool force_;
  Output out_;
};

}  // namespace bmad_mem::cli
