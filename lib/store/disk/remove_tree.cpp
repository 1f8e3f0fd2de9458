#include "store/remove_tree.hpp"

#include <fmt/format.h>

#include "store/atomic_file.hpp"

namespace bmad_mem {
namespace {

/// Folders of ours are three levels deep at most.
constexpr int kDepthMax = 16;

Status remove_below(FileSystem& files, const std::string& path, int depth) {
  if (depth > kDepthMax) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = "is nested deeper than any folder of a session; remove it by hand",
                 .path = files.display_path(path)};
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
  const Result<FileInfo> info = files.info(path);
  if (!info) {
    return is_not_found(info.error()) ? Status() : Status(info.error());
  }
  BMAD_TRY(remove_below(files, path, 0));
  return files.sync_directory(parent_folder(path));
}

}  // namespace bmad_mem
