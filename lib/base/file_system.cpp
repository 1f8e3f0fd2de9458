// file_system.cpp - reads whole files, and decides whether a path leads out of the workspace.
#include "base/file_system.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

bool starts_with_word(std::string_view text, std::string_view word) {
  return same_but_for_case(text.substr(0, word.size()), word);
}

/// A path taken apart.
struct Place {
  std::string volume;  ///< "/", a drive such as "c:", "\\" for other Windows roots; else empty.
  std::vector<std::string> names;
};

/// Goes from `place` along the names of `path`.
void walk(std::string_view path, std::string_view separators, Place& place) {
  while (!path.empty()) {
    const std::size_t size = std::min(path.find_first_of(separators), path.size());
    const std::string_view name = path.substr(0, size);
    path.remove_prefix(std::min(size + 1, path.size()));
    if (name == "..") {
      if (!place.names.empty()) {
        place.names.pop_back();
      }
    } else if (!name.empty() && name != ".") {
      place.names.emplace_back(name);
    }
  }
}

constexpr std::string_view kAllSlashes = "/\\";

/// Where `path` leads for one who stands at `base`.
Place place_of(std::string_view path, Place base) {
  Place place;
  if (path.starts_with('/')) {
    place.volume = "/";
    walk(path, "/", place);
  } else if (path.size() > 1 && is_letter(path[0]) && path[1] == ':') {
    // c:x, without a slash, counts from a folder that nobody knows here: not from the workspace.
    place.volume = {to_lower(path[0]), ':'};
    walk(path.substr(2), kAllSlashes, place);
  } else if (path.starts_with('\\')) {
    place.volume = "\\";
    walk(path, kAllSlashes, place);
  } else {
    place = std::move(base);
    walk(path, kAllSlashes, place);
  }
  return place;
}

bool is_below(const Place& folder, const Place& place) {
  const bool by_case = folder.volume == "/";
  return folder.volume == place.volume && folder.names.size() <= place.names.size() &&
         std::equal(folder.names.begin(), folder.names.end(), place.names.begin(),
                    [&](const std::string& a, const std::string& b) {
                      return by_case ? a == b : same_but_for_case(a, b);
                    });
}

/// The name of a scheme in front of "://"; empty when there is none. One letter is a drive.
std::string_view url_scheme(std::string_view text) {
  const std::string_view scheme = text.substr(0, std::min(text.find("://"), text.size()));
  const bool is_one =
      scheme.size() > 1 && scheme.size() < text.size() && is_letter(scheme[0]) &&
      std::ranges::all_of(
          scheme,
          [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; });
  return is_one ? scheme : std::string_view();
}

constexpr std::string_view kFileScheme = "file:";

/// The path in a file URL (RFC 8089); nothing when it is another host's.
std::optional<std::string> file_url_path(std::string_view url) {
  assert(starts_with_word(url, kFileScheme));
  std::string_view rest = url.substr(kFileScheme.size());
  rest = rest.substr(0, rest.find_first_of("?#"));
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::string_view host = rest.substr(0, rest.find('/'));
    if (!host.empty() && !same_but_for_case(host, "localhost")) {
      return std::nullopt;
    }
    rest.remove_prefix(host.size());
  }
  std::string path = percent_decoded(rest);
  if (path.size() > 2 && path[0] == '/' && is_letter(path[1]) && path[2] == ':') {
    path.erase(0, 1);  // /C:/x
  }
  return path;
}

/// `path` with the home in place of ~; nothing when it is somebody else's or unknown. A ~ that
/// begins a name of another kind (~$report.docx) stays.
std::optional<std::string> without_tilde(const std::string& path, const std::string& home) {
  if (!path.starts_with('~')) {
    return path;
  }
  const std::string_view user =
      std::string_view(path).substr(1, std::min(path.find_first_of(kAllSlashes), path.size()) - 1);
  if (user.empty()) {
    return home.empty() ? std::nullopt : std::optional(home + path.substr(1));
  }
  const bool is_user = std::ranges::all_of(
      user, [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; });
  return is_user ? std::nullopt : std::optional(path);
}

}  // namespace

Status File::set_mtime(std::int64_t /*mtime_ns*/) {
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = "no time of change can be set here",
               .os_error = ENOTSUP};
}

bool is_not_found(const Error& error) {
  return error.os_error == ENOENT || error.os_error == ENOTDIR;
}

Result<std::shared_ptr<File>> FileSystem::open_cached(const std::string& path) {
  {
    const std::lock_guard guard(cached_mutex_);
    if (std::optional<std::shared_ptr<File>> known = cached_.find(path)) {
      return *std::move(known);
    }
  }
  BMAD_TRY_ASSIGN(std::shared_ptr<File> opened, open(path, OpenMode::kRead));
  constexpr std::uint64_t kCachedMax =
      32;                           // Twice as many descriptors, of the 256 of some systems.
  if (opened->descriptor() >= 0) {  // One in memory may hold its file system.
    const std::lock_guard guard(cached_mutex_);
    cached_.add(path, opened, 1, kCachedMax);
  }
  return opened;
}

void FileSystem::close_cached() {
  const std::lock_guard guard(cached_mutex_);
  cached_.clear();
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

Result<std::string> read_range(File& file, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  BMAD_TRY_ASSIGN(const std::size_t got, file.read_at(offset, bytes));
  bytes.resize(got);
  return bytes;
}

namespace {

Error long_line(FileSystem& files, const std::string& path, std::string_view before,
                std::size_t line) {
  assert(line == 0 || before[line - 1] == '\n');
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
    assert(bytes.size() <= info.size && "read_at() reads at most what fits");
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

bool is_outside_workspace(const Workspace& workspace, std::string_view path) {
  path = trimmed(path);
  const std::string_view scheme = url_scheme(path);
  if (same_but_for_case(scheme, "http") || same_but_for_case(scheme, "https")) {
    return false;
  }
  std::optional<std::string> local(path);
  if (starts_with_word(path, kFileScheme)) {
    local = file_url_path(path);
  } else if (!scheme.empty()) {
    return true;
  } else {
    local = without_tilde(*local, workspace.home);
  }
  if (!local) {
    return true;
  }
  const auto is_in = [&](std::string_view folder) {
    const Place base = place_of(folder, {});
    return !base.volume.empty() && is_below(base, place_of(*local, base));
  };
  return !is_in(workspace.folder) && !is_in(workspace.resolved) &&
         std::ranges::none_of(workspace.worktrees, is_in);
}

}  // namespace bmad_mem
