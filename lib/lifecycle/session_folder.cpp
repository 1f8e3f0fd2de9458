#include "lifecycle/session_folder.hpp"

#include <cassert>

#include <fmt/format.h>

#include "core/ids.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kUnfinishedPrefix = ".";
constexpr std::string_view kUnfinishedSuffix = ".tmp";

/// How many folders a session is deep: its own, and artifacts/ in it.
constexpr int kDepthMax = 2;

// NOLINTNEXTLINE(misc-no-recursion): two deep at most.
Status remove_folder(FileSystem& files, const std::string& folder, int depth_max) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, files.list(folder));
  for (const std::string& name : names) {
    const std::string path = fmt::format("{}/{}", folder, name);
    BMAD_TRY_ASSIGN(const FileInfo info, files.info(path));
    if (info.kind != FileKind::kDirectory) {
      BMAD_TRY(files.remove(path));
    } else if (depth_max > 1) {
      BMAD_TRY(remove_folder(files, path, depth_max - 1));
    } else {
      BMAD_TRY(files.remove_directory(path));  // Refused, with its name, unless it is empty.
    }
  }
  return files.remove_directory(folder);
}

}  // namespace

std::string unfinished_session_folder(std::string_view session_id) {
  assert(is_session_id(session_id));
  return fmt::format("{}/{}{}{}", kSessionsFolder, kUnfinishedPrefix, session_id,
                     kUnfinishedSuffix);
}

bool is_unfinished_session_name(std::string_view name) {
  return name.starts_with(kUnfinishedPrefix) && name.ends_with(kUnfinishedSuffix);
}

Status remove_session_folder(FileSystem& files, const std::string& folder) {
  return remove_folder(files, folder, kDepthMax);
}

}  // namespace bmad_mem
