// unpacked_files.hpp - files in memory, under the names that they have in the folder of a session.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/file_system.hpp"

namespace bmad_mem {

using NamedBytes = std::map<std::string, std::string>;

/// What archives answer to whoever wants to change them.
Error packed_is_read_only(const std::string& path);
/// One that is_not_found().
Error not_in_package(const std::string& path);

/// A file of `bytes`, which `owner` keeps alive; read only.
std::unique_ptr<File> make_packed_file(std::string path, std::shared_ptr<const void> owner,
                                       std::string_view bytes, const FileInfo& info);

/// Read only, and never changed. Open files outlive it.
class UnpackedFiles final : public FileSystem, public std::enable_shared_from_this<UnpackedFiles> {
 public:
  /// All files have the inode `package`. `display_path` is that of the file they were packed in.
  UnpackedFiles(std::string display_path, std::uint64_t package, NamedBytes files);

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<FileInfo> info(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Status make_directory(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status remove_directory(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  [[nodiscard]] std::string display_path(const std::string& path) const override;
  /// Bytes of all files together.
  [[nodiscard]] std::uint64_t size() const;

 private:
  [[nodiscard]] FileInfo info_of(const NamedBytes::value_type& file) const;

  std::string display_path_;
  std::uint64_t package_;
  NamedBytes files_;
};

}  // namespace bmad_mem
