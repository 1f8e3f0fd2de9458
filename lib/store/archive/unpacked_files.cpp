#include "store/unpacked_files.hpp"

#include <cerrno>
#include <utility>

namespace bmad_mem {

Error packed_is_read_only(const std::string& path) {
  return path_error(ErrorCode::E_STORAGE_IO, path, "an archived session can't be written to",
                    EROFS);
}

Error not_in_package(const std::string& path) {
  return path_error(ErrorCode::E_STORAGE_IO, path, "there is no such file in the archive", ENOENT);
}

namespace {

/// Bytes in memory that do not change.
class HeldFile final : public PackedFile {
 public:
  /// `owner` keeps `bytes` alive.
  HeldFile(std::string path, std::shared_ptr<const void> owner, std::string_view bytes,
           const FileInfo& info)
      : PackedFile(std::move(path), info), owner_(std::move(owner)), bytes_(bytes) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    if (offset >= bytes_.size()) {
      return std::size_t{0};
    }
    return bytes_.copy(out.data(), out.size(), offset);
  }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view bytes_;
};

}  // namespace

Result<std::size_t> PackedFile::write(std::string_view /*bytes*/) {
  return packed_is_read_only(path_);
}

Result<std::size_t> PackedFile::write_at(std::uint64_t /*offset*/, std::string_view /*bytes*/) {
  return packed_is_read_only(path_);
}

Status PackedFile::truncate(std::uint64_t /*size*/) { return packed_is_read_only(path_); }

std::unique_ptr<File> make_packed_file(std::string path, std::shared_ptr<const void> owner,
                                       std::string_view bytes, const FileInfo& info) {
  return std::make_unique<HeldFile>(std::move(path), std::move(owner), bytes, info);
}

UnpackedFiles::UnpackedFiles(std::string display_path, std::uint64_t package, NamedBytes files)
    : display_path_(std::move(display_path)), package_(package), files_(std::move(files)) {}

Result<std::unique_ptr<File>> UnpackedFiles::open(const std::string& path, OpenMode mode) {
  BMAD_TRY_ASSIGN(const auto found, find_packed(files_, path, mode));
  return make_packed_file(path, shared_from_this(), found->second, info_of(*found));
}

Result<FileInfo> UnpackedFiles::info(const std::string& path) {
  BMAD_TRY_ASSIGN(const auto found, find_packed(files_, path));
  return info_of(*found);
}

std::string UnpackedFiles::display_path(const std::string& /*path*/) const { return display_path_; }

std::uint64_t UnpackedFiles::size() const {
  std::uint64_t sum = 0;
  for (const auto& [name, bytes] : files_) {
    sum += bytes.size();
  }
  return sum;
}

FileInfo UnpackedFiles::info_of(const NamedBytes::value_type& file) const {
  return {.inode = package_, .size = file.second.size()};
}

}  // namespace bmad_mem
