// temp_folder.hpp - a folder that disappears with its owner, and whole files as strings.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace bmad_mem {

/// A fresh folder under $BMAD_CRASH_TMP, else /dev/shm, else the system's folder for temporary
/// files. Memory comes first because a kill does not touch the page cache: a disk would only make
/// each of thousands of syncs slower. Kept when $BMAD_CRASH_KEEP is set.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  /// Absolute and without symbolic links.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The whole content; empty when there is no such file.
std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, std::string_view content);
void append_file(const std::filesystem::path& file, std::string_view content);

/// Every file below `folder`: path relative to it -> content. Folders end in '/' and are empty, a
/// symbolic link is its target.
using Tree = std::map<std::string, std::string>;
Tree read_tree(const std::filesystem::path& folder);

}  // namespace bmad_mem
