// atomic_file.cpp - replaces files atomically; makes, moves and removes folders durably.
#include "store/atomic_file.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {

std::string temporary_path(const std::string& path) { return path + ".tmp"; }

std::string parent_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

Status write_all(File& file, std::string_view bytes) {
  while (!bytes.empty()) {
    BMAD_TRY_ASSIGN(const std::size_t size, file.write(bytes));
    if (size == 0) {
      return posix_error(ENOSPC, "write", "");
    }
    assert(size <= bytes.size());
    bytes.remove_prefix(size);
  }
  return {};
}

namespace {

/// Puts a new file in the place of `path`; synced before that if `sync` says so.
Status put_in_place(FileSystem& files, const std::string& path,
                    const std::function<Status(File&)>& fill, bool sync) {
  assert(!path.empty() && !path.ends_with('/'));
  const std::string temporary = temporary_path(path);
  const auto prepare = [&]() -> Status {
    BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(temporary, OpenMode::kCreate));
    BMAD_TRY(fill(*file));
    if (sync) {
      BMAD_TRY(file->sync_all());
    }
    return files.rename(temporary, path);
  };
  Status prepared = prepare();
  if (!prepared) {
    // The cause is worth more than the outcome of tidying up.
    static_cast<void>(files.remove(temporary));
  }
  return prepared;
}

}  // namespace

Status replace_file(FileSystem& files, const std::string& path, std::string_view bytes) {
  return replace_file_with(files, path, [&](File& file) { return write_all(file, bytes); });
}

Status replace_file_with(FileSystem& files, const std::string& path,
                         const std::function<Status(File&)>& fill) {
  BMAD_TRY(rename_into_place(files, path, fill));
  return files.sync_directory(parent_folder(path));
}

Status rename_into_place(FileSystem& files, const std::string& path,
                         const std::function<Status(File&)>& fill) {
  return put_in_place(files, path, fill, true);
}

Status replace_derived_file(FileSystem& files, const std::string& path, std::string_view bytes) {
  return put_in_place(files, path, [&](File& file) { return write_all(file, bytes); }, false);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as our layout is.
Status ensure_folder(FileSystem& files, const std::string& path) {
  assert(!path.empty());
  const std::string parent = parent_folder(path);
  if (!parent.empty()) {
    BMAD_TRY(ensure_folder(files, parent));
  }
  Status made = files.make_directory(path);
  if (!made && made.error().os_error != EEXIST) {
    return made;
  }
  return files.sync_directory(parent);
}

Status remove_durably(FileSystem& files, const std::string& path) {
  BMAD_TRY(if_there(files.remove(path)));
  return if_there(files.sync_directory(parent_folder(path)));
}

Status ensure_ignored(FileSystem& files, std::string_view pattern) {
  assert(!pattern.empty() && !pattern.contains('\n'));
  constexpr std::uint64_t kIgnoreFileSizeMax = 1U << 20U;
  BMAD_TRY_ASSIGN(auto text, if_there(read_file(files, kGitignoreFile, kIgnoreFileSizeMax)));
  if (!text || text->contains(pattern)) {
    return {};  // Somebody doesn't want one, or it is done.
  }
  if (!text->empty() && text->back() != '\n') {
    *text += '\n';
  }
  return replace_file(files, kGitignoreFile, *text + std::string(pattern) + '\n');
}

Result<std::vector<std::string>> ids_of_files(FileSystem& files, const std::string& folder,
                                              std::string_view suffix) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, list_if_there(files, folder));
  std::vector<std::string> ids;
  for (const std::string& name : names) {
    if (name.ends_with(suffix) &&
        is_session_id(std::string_view(name).substr(0, name.size() - suffix.size()))) {
      ids.push_back(name.substr(0, name.size() - suffix.size()));
    }
  }
  std::ranges::sort(ids);  // "a-b" before "a", once the suffix begins with a dot.
  return ids;
}

namespace {

/// Folders of ours are three levels deep at most.
constexpr int kDepthMax = 16;

Error too_deep(const FileSystem& files, const std::string& path) {
  return path_error(ErrorCode::E_STORAGE_CORRUPT, files.display_path(path),
                    "is nested deeper than any folder of a session; remove it by hand");
}

Status remove_below(FileSystem& files, const std::string& path, int depth) {
  if (depth > kDepthMax) {
    return too_deep(files, path);
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, files.list(path));
  for (const std::string& name : names) {
    const std::string each = fmt::format("{}/{}", path, name);
    BMAD_TRY_ASSIGN(const FileInfo info, files.info(each));
    BMAD_TRY(info.kind == FileKind::kDirectory ? remove_below(files, each, depth + 1)
                                               : files.remove(each));
  }
  return files.remove_directory(path);
}

}  // namespace

Status remove_tree(FileSystem& files, const std::string& path) {
  assert(!path.empty() && "the root is never removed");
  const Result<FileInfo> info = files.info(path);
  if (!info) {
    return is_not_found(info.error()) ? Status() : Status(info.error());
  }
  BMAD_TRY(remove_below(files, path, 0));
  return files.sync_directory(parent_folder(path));
}

namespace {

constexpr std::uint64_t kCopiedSizeMax = std::uint64_t{1} << 32U;

/// Copies the folder durably, except the name of `to` in its parent.
Status copy_tree(FileSystem& files, const std::string& from, const std::string& to, int depth) {
  if (depth > kDepthMax) {
    return too_deep(files, from);
  }
  BMAD_TRY(ensure_folder(files, to));
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, files.list(from));
  for (const std::string& name : names) {
    const std::string each = fmt::format("{}/{}", from, name);
    const std::string copy = fmt::format("{}/{}", to, name);
    BMAD_TRY_ASSIGN(const FileInfo info, files.info(each));
    if (info.kind == FileKind::kDirectory) {
      BMAD_TRY(copy_tree(files, each, copy, depth + 1));
      continue;
    }
    BMAD_TRY_ASSIGN(const std::string bytes, read_file(files, each, kCopiedSizeMax));
    BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(copy, OpenMode::kCreate));
    BMAD_TRY(write_all(*file, bytes));
    static_cast<void>(file->set_mtime(info.mtime_ns));  // Line hashes and indexes know it by that.
    BMAD_TRY(file->sync_all());
  }
  return files.sync_directory(to);
}

bool crosses_devices(const Status& renamed) {
  return !renamed && renamed.error().os_error == EXDEV;
}

}  // namespace

Status rename_folder(FileSystem& files, const std::string& from, const std::string& to) {
  assert(!from.empty() && !to.empty());
  Status renamed = files.rename(from, to);
  const bool needs_copy = crosses_devices(renamed);
  if (needs_copy) {
    // No session's name, and a leftover's after a crash.
    const std::string copy =
        fmt::format("{}/.{}.tmp", parent_folder(to), to.substr(to.rfind('/') + 1));
    BMAD_TRY(remove_tree(files, copy));
    renamed = copy_tree(files, from, copy, 0);
    renamed = renamed ? files.rename(copy, to) : renamed;
    if (!renamed) {
      static_cast<void>(remove_tree(files, copy));
    }
  }
  BMAD_TRY(std::move(renamed));
  BMAD_TRY(files.sync_directory(parent_folder(to)));
  return needs_copy ? remove_tree(files, from) : files.sync_directory(parent_folder(from));
}

Result<std::string> put_aside(FileSystem& files, const std::string& folder,
                              const std::string& doomed) {
  BMAD_TRY(remove_tree(files, doomed));
  const Status renamed = files.rename(folder, doomed);
  if (crosses_devices(renamed)) {
    return folder;
  }
  BMAD_TRY(renamed);
  BMAD_TRY(files.sync_directory(parent_folder(folder)));
  return doomed;
}

}  // namespace bmad_mem
