#include "store/session_place.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "store/layout.hpp"

namespace bmad_mem {
namespace {

/// The names in a folder; none when there is no folder.
Result<std::vector<std::string>> names_in(FileSystem& files, const std::string& folder) {
  Result<std::vector<std::string>> names = files.list(folder);
  if (!names && is_not_found(names.error())) {
    return std::vector<std::string>();
  }
  return names;
}

/// Documents belong to entries. A folder for them alone is nothing that git keeps.
Result<bool> has_documents(FileSystem& files, std::string_view session_id) {
  const std::string folder = session_file(session_id, kArtifactsName);
  BMAD_TRY_ASSIGN(const FileInfo info, files.info(folder));
  if (info.kind != FileKind::kDirectory) {
    return true;
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, names_in(files, folder));
  return !std::ranges::all_of(names, is_local_name);
}

}  // namespace

bool is_local_name(std::string_view name) {
  return name.starts_with(kLockName) || name == kIndexName || name == kAccessName ||
         name.ends_with(".tmp");
}

Result<bool> is_remains(FileSystem& files, std::string_view session_id) {
  BMAD_TRY_ASSIGN(const bool has_manifest, is_there(files, manifest_path(session_id)));
  if (has_manifest) {
    return false;
  }
  const std::string folder = session_folder(session_id);
  const Result<FileInfo> info = files.info(folder);
  if (!info) {
    return is_not_found(info.error()) ? Result<bool>(false) : info.error();
  }
  if (info->kind != FileKind::kDirectory) {
    return false;
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, names_in(files, folder));
  for (const std::string& name : names) {
    if (name == kArtifactsName) {
      BMAD_TRY_ASSIGN(const bool has, has_documents(files, session_id));
      if (has) {
        return false;
      }
    } else if (!is_local_name(name)) {
      return false;
    }
  }
  return true;
}

Result<bool> is_session_there(FileSystem& files, std::string_view session_id) {
  BMAD_TRY_ASSIGN(const bool has_folder, is_there(files, session_folder(session_id)));
  if (!has_folder) {
    return false;
  }
  BMAD_TRY_ASSIGN(const bool remains, is_remains(files, session_id));
  return !remains;
}

}  // namespace bmad_mem
