// files.hpp - whole files: read at once, and written so that they are there as a whole or not at
// all.
//
//   X.bmad-mem.tmp: locked, written, fsync  ->  rename to X  ->  fsync the folder
//
// The name is always the same, so what a killed process left is removed by the next one. Two at a
// time are told apart by a lock.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "cli/output.hpp"
#include "cli/program.hpp"

namespace bmad_mem::cli {

/// What is wrong with `path`, from errno: "cannot `what`", and why.
Error file_error(std::string_view what, const std::string& path, int error);

/// Where `path` lies behind symbolic links; empty when nothing is there.
std::string real_path_of(const std::string& path);

/// Whether there is anything at `path`, be it a link that leads nowhere.
bool is_there(const std::string& path);

/// Makes durable that there is a file at `path`, or none. Errors: E_STORAGE_IO; a folder that can't
/// be read is left as it is.
Status sync_folder_of(const std::string& path);

/// `size` bytes from the front of an open file, or as many as there are. False: errno says why not.
bool read_bytes(const Descriptor& file, std::size_t size, std::string& bytes);

/// Writes all of `bytes`. False: errno says why not.
bool write_bytes(const Descriptor& file, std::string_view bytes);

/// Makes a file of `bytes` at `path`, not durable, readable by its owner only. False: errno
/// says why not.
bool write_copy(const std::string& path, std::string_view bytes);

/// A folder among the temporary ones, gone with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  /// Empty when it could not be made.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The whole regular file at `path`, also through a link. Errors: E_STORAGE_IO with the path;
/// E_SIZE_LIMIT above 1 GiB.
Result<std::string> read_regular_file(const std::string& path);

/// The names in a folder, sorted. Errors: E_STORAGE_IO.
Result<std::vector<std::string>> names_in(const std::string& folder);
/// The pieces of `text` that end in `end`, without it; the last one may lack it.
std::vector<std::string_view> lines_of(std::string_view text, char end = '\n');

// In text_diff.cpp: what changed between two texts, as `diff -u` shows it.

/// The hunks of a unified diff, each line with its '\n': "@@ -1,3 +1,4 @@", " kept", "-gone",
/// "+new", with `context` lines around each change. Empty when the texts are equal. Where a
/// thousand lines and more lie between the first and the last change, all of them count as changed.
std::string unified_diff(std::string_view before, std::string_view after, std::size_t context);

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

/// Puts `text` in the place of the file at `path`, durable, with the mode that it has; a link is
/// followed. What fails before that leaves the file as it was. Errors: as FileReplacement.
Status replace_file(const std::string& path, std::string_view text);

/// What a command prints, into a file.
class OutputFile {
 public:
  /// Begins the file `path`, for nobody but its owner to read. With `force` it may take the place
  /// of a regular file. Errors: E_CONCURRENT_MOD when it is there; E_STORAGE_IO.
  static Result<OutputFile> create(const std::string& path, bool force);

  [[nodiscard]] Output& out() { return out_; }
  /// Puts the file into its place; durable on success. Errors: as create(); E_STORAGE_FULL.
  Status commit();

 private:
  OutputFile(std::string path, FileReplacement file, bool force);

  std::string path_;
  FileReplacement file_;  // Removed again, unless commit() was called.
  bool force_;
  Output out_;
};

}  // namespace bmad_mem::cli
