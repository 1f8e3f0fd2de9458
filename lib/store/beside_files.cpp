#include "store/beside_files.hpp"

#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr int kDepthMax = 32;

/// Names at the root that have their own way: sessions, copies of them, what is derived, settings,
/// what is known of a hub.
bool is_known_name(std::string_view name) {
  constexpr std::string_view kNames[] = {
      kSessionsFolder, kSharedFolder,     kArchiveFolder, kDeletedFolder, kIndexFolder,
      kHubFolder,      kConfigFile,       kLayoutFile,    kGitignoreFile, kMaintenanceFile,
      "catalog.json",  kRedactionKeyFile, ".git",         kSealingFile};
  return is_among(kNames, name) || name.starts_with(kLockName);
}

Status add_files(FileSystem& files, const std::string& folder, int depth,
                 std::vector<std::string>& paths) {
  if (depth > kDepthMax) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, files.list(folder));
  for (const std::string& name : names) {
    if (folder.empty() && is_known_name(name)) {
      continue;
    }
    const std::string path = folder.empty() ? name : fmt::format("{}/{}", folder, name);
    BMAD_TRY_ASSIGN(const auto info, if_there(files.info(path)));
    if (info && info->kind == FileKind::kDirectory) {
      BMAD_TRY(add_files(files, path, depth + 1, paths));
    } else if (info && info->kind == FileKind::kRegular && info->size <= kBesideFileSizeMax) {
      paths.push_back(path);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> files_beside_sessions(FileSystem& files) {
  std::vector<std::string> paths;
  BMAD_TRY(add_files(files, "", 0, paths));
  return paths;
}

bool is_root_leftover(std::string_view path) {
  return path.ends_with(".tmp") && !path.contains('/');
}

bool is_text_file(std::string_view bytes) { return !bytes.contains('\0'); }

}  // namespace bmad_mem
