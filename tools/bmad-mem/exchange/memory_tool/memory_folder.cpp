// memory_folder.cpp - reads and writes files of the folder memories/, and follows no link.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "exchange/files.hpp"
#include "exchange/memory_tool/memory_tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr const char* kFolderName = "memories";
constexpr const char* kTemporaryName = "memories.tmp";
constexpr const char* kLockName = ".lock.memories";
constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;
constexpr std::uint64_t kFileSizeMax = std::uint64_t{256} << 20U;
constexpr int kFolderDepthMax = 128;  // Of what is removed: each level holds a descriptor.
constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Error failed(std::string_view what, std::string_view path) {
  const int error = errno;
  return Error{.code = error == ENOSPC || error == EDQUOT ? ErrorCode::E_STORAGE_FULL
                                                          : ErrorCode::E_STORAGE_IO,
               .message = fmt::format("Cannot {} {}: {}", what, path, std::strerror(error)),
               .os_error = error};
}

Error is_link() { return refused("Path would escape /memories directory via symlink"); }

struct stat status_of(int folder, const std::string& name) {
  struct stat status{};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    status.st_mode = 0;
  }
  return status;
}

/// Opens the folder `name` in `folder`. errno says why not; ELOOP for a link.
Descriptor open_below(int folder, const std::string& name) {
  Descriptor opened(::openat(folder, name.c_str(), kOpenFolder));
  // A link is ENOTDIR to Linux, because O_DIRECTORY is asked first.
  if (!opened.is_open()) {
    const int error = errno;
    errno = S_ISLNK(status_of(folder, name).st_mode) ? ELOOP : error;
  }
  return opened;
}

/// Makes the folder `name`; one that is there is fine. Durable.
bool make_below(int folder, const std::string& name) {
  if (::mkdirat(folder, name.c_str(), kFolderMode) != 0) {
    return errno == EEXIST;
  }
  return ::fchmodat(folder, name.c_str(), kFolderMode, 0) == 0 && ::fsync(folder) == 0;
}

Error not_reached(const VirtualPath& path) {
  return errno == ELOOP ? is_link() : failed("open", path.given);
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// The names in an open folder, without "." and "..", sorted.
Result<std::vector<std::string>> names_below(const Descriptor& folder, std::string_view path) {
  // A descriptor of its own: closedir() closes it, and reading moves its position.
  const int again = ::openat(folder.number(), ".", kOpenFolder);
  const std::unique_ptr<DIR, CloseFolder> stream(again < 0 ? nullptr : ::fdopendir(again));
  if (!stream) {
    return failed("list", path);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

Status list_below(const Descriptor& folder, const std::string& prefix, int depth,
                  std::vector<FolderItem>& items) {
  assert(depth > 0 && (prefix.empty() || prefix.ends_with('/')));
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, names_below(folder, prefix));
  for (const std::string& name : names) {
    const struct stat status = status_of(folder.number(), name);
    const bool is_folder = S_ISDIR(status.st_mode);
    if (name.starts_with('.') || name == "node_modules" ||
        !(is_folder || S_ISREG(status.st_mode))) {
      continue;
    }
    items.push_back({.path = prefix + name,
                     .size = static_cast<std::uint64_t>(status.st_size),
                     .is_folder = is_folder});
    if (is_folder && depth > 1) {
      if (const Descriptor inner = open_below(folder.number(), name); inner.is_open()) {
        BMAD_TRY(list_below(inner, fmt::format("{}{}/", prefix, name), depth - 1, items));
      }
    }
  }
  return {};
}

/// Removes `name` with all that is in it; a link itself, not what it leads to.
Status remove_below(int folder, const std::string& name, std::string_view path, int depth) {
  if (!S_ISDIR(status_of(folder, name).st_mode)) {
    return ::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT
               ? Status()
               : Status(failed("delete", path));
  }
  const Descriptor inner = open_below(folder, name);
  if (!inner.is_open() || depth == 0) {
    errno = inner.is_open() ? ELOOP : errno;
    return failed("delete", path);
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, names_below(inner, path));
  for (const std::string& each : names) {
    BMAD_TRY(remove_below(inner.number(), each, path, depth - 1));
  }
  return ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 ? Status()
                                                             : Status(failed("delete", path));
}

/// Renames without replacing anything. Where the file system can't do that, a file is linked to its
/// new name first, which fails when the name is taken; a folder is looked for, since the lock keeps
/// other writers out.
bool rename_to_free_name(int from_folder, const std::string& from, int to_folder,
                         const std::string& to) {
  if (::renameat2(from_folder, from.c_str(), to_folder, to.c_str(), RENAME_NOREPLACE) == 0) {
    return true;
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return false;
  }
  if (::linkat(from_folder, from.c_str(), to_folder, to.c_str(), 0) == 0) {
    return ::unlinkat(from_folder, from.c_str(), 0) == 0;
  }
  if (errno == EEXIST || status_of(to_folder, to).st_mode != 0) {
    errno = EEXIST;
    return false;
  }
  return ::renameat(from_folder, from.c_str(), to_folder, to.c_str()) == 0;
}

constexpr std::string_view kRoot = "/memories";

/// Whether the path leads up, or ends early, for any reader: one that decodes it, or one to whom a
/// backslash separates names.
bool is_treacherous(std::string_view path) {
  std::string text(path);
  for (std::string decoded = percent_decoded(text); decoded != text;
       decoded = percent_decoded(text)) {
    if (decoded.find("..") != std::string::npos) {
      return true;
    }
    text = std::move(decoded);
  }
  if (text.find('\0') != std::string::npos) {
    return true;
  }
  std::ranges::replace(text, '\\', '/');
  return fmt::format("{}/", text).find("/../") != std::string::npos;
}

}  // namespace

Result<VirtualPath> parse_virtual_path(std::string_view given) {
  const std::string_view rest = given.substr(std::min(kRoot.size(), given.size()));
  if (!given.starts_with(kRoot) || !(rest.empty() || rest.starts_with('/'))) {
    return refused("Path must start with /memories, got: {}", given);
  }
  if (is_treacherous(given)) {
    return refused("Path {} would escape /memories directory", given);
  }
  VirtualPath path{.given = std::string(given), .names = {}};
  for (const std::string_view name : lines_of(rest, '/')) {
    if (!name.empty() && name != ".") {
      path.names.emplace_back(name);
    }
  }
  assert(std::ranges::none_of(
      path.names, [](std::string_view name) { return name == ".." || name.contains('/'); }));
  return path;
}

bool is_within(const VirtualPath& inner, const VirtualPath& outer) {
  return inner.names.size() >= outer.names.size() &&
         std::equal(outer.names.begin(), outer.names.end(), inner.names.begin());
}

MemoryFolder::MemoryFolder(Descriptor root) : root_(std::move(root)) {}

Result<MemoryFolder> MemoryFolder::open(const std::string& root) {
  Descriptor base(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!base.is_open()) {
    return failed("open", root);
  }
  const Descriptor top = open_below(base.number(), kFolderName);
  if (!top.is_open() && errno != ENOENT) {
    return errno == ELOOP ? is_link() : failed("open the folder memories in", root);
  }
  return MemoryFolder(std::move(base));
}

Result<Descriptor> MemoryFolder::open_parent(const VirtualPath& path, Missing missing) const {
  const auto enter = [missing](const Descriptor& folder, const std::string& name) {
    Descriptor next = open_below(folder.number(), name);
    return !next.is_open() && errno == ENOENT && missing == Missing::kIsMade &&
                   make_below(folder.number(), name)
               ? open_below(folder.number(), name)
               : std::move(next);
  };
  Descriptor folder = enter(root_, kFolderName);
  for (std::size_t i = 0; folder.is_open() && i + 1 < path.names.size(); ++i) {
    folder = enter(folder, path.names[i]);
  }
  if (!folder.is_open()) {
    return not_reached(path);
  }
  return folder;
}

Result<Descriptor> MemoryFolder::open_folder(const VirtualPath& path) const {
  BMAD_TRY_ASSIGN(Descriptor parent, open_parent(path, Missing::kFails));
  if (path.is_root()) {
    return parent;
  }
  Descriptor folder = open_below(parent.number(), path.names.back());
  if (!folder.is_open()) {
    return not_reached(path);
  }
  return folder;
}

Result<PathKind> MemoryFolder::kind(const VirtualPath& path) const {
  if (path.is_root()) {
    return PathKind::kFolder;
  }
  const Result<Descriptor> parent = open_parent(path, Missing::kFails);
  if (!parent) {
    const int error = parent.error().os_error;
    return error == ENOENT || error == ENOTDIR ? Result<PathKind>(PathKind::kNothing)
                                               : parent.error();
  }
  const mode_t mode = status_of(parent->number(), path.names.back()).st_mode;
  if (S_ISLNK(mode)) {
    return is_link();
  }
  if (S_ISDIR(mode)) {
    return PathKind::kFolder;
  }
  return mode == 0 ? PathKind::kNothing : S_ISREG(mode) ? PathKind::kFile : PathKind::kOther;
}

Result<std::string> MemoryFolder::read(const VirtualPath& path) const {
  BMAD_TRY_ASSIGN(const Descriptor parent, open_parent(path, Missing::kFails));
  assert(!path.is_root());
  const Descriptor file(::openat(parent.number(), path.names.back().c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!file.is_open() || ::fstat(file.number(), &status) != 0) {
    return not_reached(path);
  }
  if (static_cast<std::uint64_t>(status.st_size) > kFileSizeMax) {
    return Error{.code = ErrorCode::E_SIZE_LIMIT,
                 .message = fmt::format("The file {} is larger than 256 MiB", path.given)};
  }
  std::string text;
  return read_bytes(file, static_cast<std::size_t>(status.st_size), text)
             ? Result<std::string>(std::move(text))
             : failed("read", path.given);
}

bool MemoryFolder::is_unmade(const VirtualPath& path) const {
  return path.is_root() && status_of(root_.number(), kFolderName).st_mode == 0;
}

Result<std::uint64_t> MemoryFolder::folder_size(const VirtualPath& path) const {
  if (is_unmade(path)) {
    return 0;
  }
  BMAD_TRY_ASSIGN(const Descriptor folder, open_folder(path));
  struct stat status{};
  if (::fstat(folder.number(), &status) != 0) {
    return failed("look at", path.given);
  }
  return static_cast<std::uint64_t>(status.st_size);
}

Result<std::vector<FolderItem>> MemoryFolder::list(const VirtualPath& path, int depth) const {
  std::vector<FolderItem> items;
  if (is_unmade(path)) {
    return items;
  }
  BMAD_TRY_ASSIGN(const Descriptor folder, open_folder(path));
  BMAD_TRY(list_below(folder, "", depth, items));
  return items;
}

Status MemoryFolder::write_temporary(std::string_view text) const {
  const Descriptor file(::openat(root_.number(), kTemporaryName,
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  return file.is_open() && ::fchmod(file.number(), kFileMode) == 0 && write_bytes(file, text) &&
                 ::fsync(file.number()) == 0
             ? Status()
             : Status(failed("write", kTemporaryName));
}

Result<bool> MemoryFolder::put(const VirtualPath& path, bool only_new) const {
  BMAD_TRY_ASSIGN(const Descriptor parent,
                  open_parent(path, only_new ? Missing::kIsMade : Missing::kFails));
  assert(!path.is_root() && "the folder itself is no file");
  const std::string& target = path.names.back();
  const bool done =
      only_new ? rename_to_free_name(root_.number(), kTemporaryName, parent.number(), target)
               : ::renameat(root_.number(), kTemporaryName, parent.number(), target.c_str()) == 0;
  if (!done && only_new && errno == EEXIST) {
    return false;
  }
  if (!done || ::fsync(parent.number()) != 0) {
    return failed("write", path.given);
  }
  return true;
}

Result<bool> MemoryFolder::write(const VirtualPath& path, std::string_view text,
                                 bool only_new) const {
  // Under the lock nobody else writes, and a file that a dead process left is of no use.
  ::unlinkat(root_.number(), kTemporaryName, 0);
  const Status written = write_temporary(text);
  Result<bool> done = written ? put(path, only_new) : Result<bool>(written.error());
  ::unlinkat(root_.number(), kTemporaryName, 0);  // Still there when it did not come to its place.
  return done;
}

Status MemoryFolder::remove(const VirtualPath& path) {
  BMAD_TRY_ASSIGN(const Descriptor parent, open_parent(path, Missing::kFails));
  assert(!path.is_root());
  BMAD_TRY(remove_below(parent.number(), path.names.back(), path.given, kFolderDepthMax));
  return ::fsync(parent.number()) == 0 ? Status() : Status(failed("delete", path.given));
}

Result<bool> MemoryFolder::rename(const VirtualPath& from, const VirtualPath& to) {
  assert(!from.is_root() && !to.is_root());
  BMAD_TRY_ASSIGN(const Descriptor old_parent, open_parent(from, Missing::kFails));
  BMAD_TRY_ASSIGN(const Descriptor new_parent, open_parent(to, Missing::kIsMade));
  if (!rename_to_free_name(old_parent.number(), from.names.back(), new_parent.number(),
                           to.names.back())) {
    return errno == EEXIST ? Result<bool>(false) : failed("rename", from.given);
  }
  if (::fsync(new_parent.number()) != 0 || ::fsync(old_parent.number()) != 0) {
    return failed("rename", from.given);
  }
  return true;
}

Result<Descriptor> MemoryFolder::lock() const {
  using std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience(10);
  constexpr std::chrono::milliseconds kPause(5);
  Descriptor file(
      ::openat(root_.number(), kLockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!file.is_open()) {
    return failed("open", kLockName);
  }
  const steady_clock::time_point end = steady_clock::now() + kPatience;
  while (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return failed("lock", kLockName);
    }
    if (steady_clock::now() > end) {
      return Error{
          .code = ErrorCode::E_LOCK_TIMEOUT,
          .message = "Another process has been writing memories for ten seconds; try again"};
    }
    std::this_thread::sleep_for(kPause);
  }
  return file;
}

}  // namespace bmad_mem::cli
