#include "base/file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

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
  BMAD_TRY_ASSIGN(const auto info, if_there(files.info(path)));
  return info.has_value();
}

Result<std::vector<std::string>> list_if_there(FileSystem& files, const std::string& path) {
  Result<std::vector<std::string>> names = files.list(path);
  if (names || !is_not_found(names.error())) {
    return names;
  }
  const Result<FileInfo> other = files.info(path);
  if (other && other->kind != FileKind::kDirectory) {
    return path_error(ErrorCode::E_STORAGE_CORRUPT, files.display_path(path),
                      "is not a folder; move away what is there");
  }
  return std::vector<std::string>();
}

namespace {

Error long_line(FileSystem& files, const std::string& path, std::string_view before,
                std::size_t line) {
  const auto lines = std::ranges::count(before.substr(0, line), '\n');
  return Error{.code = ErrorCode::E_SIZE_LIMIT,
               .message = fmt::format("the line has more than {} bytes, which no entry has; take "
                                      "it out by hand, or restore the file from git",
                                      kTextLineMax),
               .path = files.display_path(path),
               .line = static_cast<std::uint64_t>(lines) + 1};
}

}  // namespace

Result<std::string> read_file(FileSystem& files, const std::string& path, std::uint64_t size_max) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kRead));
  BMAD_TRY_ASSIGN(const FileInfo info, file->info());
  if (info.size > size_max) {
    return path_error(ErrorCode::E_SIZE_LIMIT, files.display_path(path),
                      fmt::format("is {} bytes, more than the {} this kind of file may have",
                                  info.size, size_max));
  }
  std::string bytes;
  constexpr std::size_t kRoom = 64;  // A parser that wants padding appends it in place.
  bytes.reserve(info.size + kRoom);
  const std::uint64_t at_once = path.ends_with(".jsonl") ? kTextLineMax : info.size;
  Result<std::size_t> got = std::size_t{0};
  for (std::size_t line = 0; bytes.size() < info.size;) {
    const std::size_t had = bytes.size();
    bytes.resize_and_overwrite(std::min(info.size, had + at_once), [&](char* to, std::size_t size) {
      got = file->read_at(had, std::span(to, size).subspan(had));
      return had + got.value_or(0);
    });
    BMAD_TRY(got);
    if (*got == 0) {
      break;
    }
    const std::size_t newline = std::min(bytes.find('\n', had), bytes.size());
    if (at_once == kTextLineMax && newline - line > kTextLineMax) {
      return long_line(files, path, bytes, line);
    }
    line = newline < bytes.size() ? bytes.rfind('\n') + 1 : line;
  }
  return bytes;
}

Result<std::string> read_if_there(FileSystem& files, const std::string& path,
                                  std::uint64_t size_max) {
  Result<std::string> text = read_file(files, path, size_max);
  return text || !is_not_found(text.error()) ? std::move(text) : std::string();
}

}  // namespace bmad_mem
