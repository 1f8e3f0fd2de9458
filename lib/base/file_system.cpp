#include "base/file_system.hpp"

#include <cerrno>

#include <fmt/format.h>

namespace bmad_mem {

Status File::set_mtime(std::int64_t /*mtime_ns*/) {
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = "no time of change can be set here",
               .os_error = ENOTSUP};
}

bool is_not_found(const Error& error) {
  return error.os_error == ENOENT || error.os_error == ENOTDIR;
}

Result<bool> is_there(FileSystem& files, const std::string& path) {
  const Result<FileInfo> info = files.info(path);
  if (!info && !is_not_found(info.error())) {
    return info.error();
  }
  return info.has_value();
}

Result<std::vector<std::string>> list_if_there(FileSystem& files, const std::string& path) {
  Result<std::vector<std::string>> names = files.list(path);
  if (names || !is_not_found(names.error())) {
    return names;
  }
  const Result<FileInfo> other = files.info(path);
  if (other && other->kind != FileKind::kDirectory) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = "is not a folder; move away what is there",
                 .path = files.display_path(path)};
  }
  return std::vector<std::string>();
}

Result<std::string> read_file(FileSystem& files, const std::string& path, std::uint64_t size_max) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kRead));
  BMAD_TRY_ASSIGN(const FileInfo info, file->info());
  if (info.size > size_max) {
    return Error{.code = ErrorCode::E_SIZE_LIMIT,
                 .message = fmt::format("is {} bytes, more than the {} this kind of file may have",
                                        info.size, size_max),
                 .path = files.display_path(path)};
  }
  std::string bytes;
  constexpr std::size_t kRoom = 64;  // A parser that wants padding appends it in place.
  bytes.reserve(info.size + kRoom);
  Result<std::size_t> size = std::size_t{0};
  bytes.resize_and_overwrite(info.size, [&](char* to, std::size_t) {
    size = file->read_at(0, std::span(to, info.size));
    return size ? *size : 0;
  });
  BMAD_TRY(size);
  return bytes;
}

}  // namespace bmad_mem
