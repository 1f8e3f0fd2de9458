// unpacked_files.hpp - files in memory, under the names that they have in the folder of a session.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.hpp"

namespace bmad_mem {

using NamedBytes = std::map<std::string, std::string>;

/// What archives answer to whoever wants to change them.
Error packed_is_read_only(const std::string& path);
/// One that is_not_found().
Error not_in_package(const std::string& path);

/// An open file in a packed one; read only.
class PackedFile : public File {
 public:
  PackedFile(std::string path, const FileInfo& info) : path_(std::move(path)), info_(info) {}

  Result<std::size_t> write(std::string_view bytes) override;
  Result<std::size_t> write_at(std::uint64_t offset, std::string_view bytes) override;
  Status truncate(std::uint64_t size) override;
  Status sync_data() override { return {}; }
  Status sync_all() override { return {}; }
  Result<FileInfo> info() override { return info_; }
  [[nodiscard]] int descriptor() const override { return -1; }

 protected:
  [[nodiscard]] std::uint64_t size() const { return info_.size; }

 private:
  std::string path_;
  FileInfo info_;
};

/// Packed files, of which open() and info() make what they are.
class ReadOnlyFiles : public FileSystem {
 public:
  Result<std::vector<std::string>> list(const std::string& path) override;
  Status make_directory(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status remove_directory(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
};

/// A file of `bytes`, which `owner` keeps alive; read only.
std::unique_ptr<File> make_packed_file(std::string path, std::shared_ptr<const void> owner,
                                       std::string_view bytes, const FileInfo& info);

/// Read only, and never changed. Open files outlive it.
class UnpackedFiles final : public ReadOnlyFiles,
                            public std::enable_shared_from_this<UnpackedFiles> {
 public:
  /// All files have the inode `package`. `display_path` is that of the file they were packed in.
  UnpackedFiles(std::string display_path, std::uint64_t package, NamedBytes files);

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<FileInfo> info(const std::string& path) override;
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
