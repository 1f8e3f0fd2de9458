// unpack_session.cpp - from the files of an archive to the folder of a session.
#include <algorithm>
#include <cassert>
#include <string>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/session_archive.hpp"

namespace bmad_mem {
namespace {

Status check_names(std::string_view session_id, std::span<const ArchivedFile> members) {
  for (const ArchivedFile& member : members) {
    if (!is_session_file(member.name)) {
      return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                   .message = fmt::format("'{}' is no file of a session, so {} is not restored",
                                          member.name, session_id)};
    }
  }
  return {};
}

Status check_is_free(FileSystem& files, std::string_view session_id) {
  const std::string folder = session_folder(session_id);
  const Result<FileInfo> info = files.info(folder);
  if (!info) {
    return is_not_found(info.error()) ? Status() : info.error();
  }
  return path_error(ErrorCode::E_CONCURRENT_MOD, files.display_path(folder),
                    fmt::format("there is a session {} already; delete it before its archive "
                                "is restored, or work with it as it is",
                                session_id));
}

Status write_new_file(FileSystem& files, const std::string& path, std::string_view bytes) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kCreate));
  BMAD_TRY(write_all(*file, bytes));
  return file->sync_all();
}

Status write_members(FileSystem& files, const std::string& folder,
                     std::span<const ArchivedFile> members) {
  BMAD_TRY(files.make_directory(folder));
  const std::string artifacts = fmt::format("{}/{}", folder, kArtifactsName);
  const bool has_artifacts = std::ranges::any_of(members, [](const ArchivedFile& member) {
    return member.name.find('/') != std::string::npos;
  });
  if (has_artifacts) {
    BMAD_TRY(files.make_directory(artifacts));
  }
  for (const ArchivedFile& member : members) {
    BMAD_TRY(write_new_file(files, fmt::format("{}/{}", folder, member.name), member.bytes));
  }
  if (has_artifacts) {
    BMAD_TRY(files.sync_directory(artifacts));
  }
  return files.sync_directory(folder);
}

}  // namespace

Status unpack_session_archive(FileSystem& files, std::string_view session_id,
                              std::span<const ArchivedFile> members) {
  assert(is_session_id(session_id));
  BMAD_TRY(check_names(session_id, members));
  BMAD_TRY(check_is_free(files, session_id));
  BMAD_TRY(ensure_folder(files, kSessionsFolder));
  const std::string unfinished = unfinished_session_folder(session_id);
  BMAD_TRY(remove_tree(files, unfinished));
  Status filled = write_members(files, unfinished, members);
  if (filled) {
    filled = files.rename(unfinished, session_folder(session_id));
  }
  if (!filled) {
    // The cause is worth more than the outcome of tidying up.
    static_cast<void>(remove_tree(files, unfinished));
    return filled;
  }
  return files.sync_directory(kSessionsFolder);
}

}  // namespace bmad_mem
