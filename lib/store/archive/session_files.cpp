// session_files.cpp - which files of a session's folder are its memory, read in their order.
#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/text.hpp"
#include "store/layout.hpp"
#include "tar.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kArtifactSuffix = ".md";

/// The names of files right in the folder, in the order in which they are archived.
std::vector<std::string_view> flat_names() {
  std::vector<std::string_view> names = {kManifestName};
  for (const EntryType type : kEntryTypes) {
    names.push_back(entry_type_info(type).log_file);
  }
  names.insert(names.end(), {kSummaryName, kAccessName, kAuditName, kQuarantineName});
  return names;
}

bool is_flat_name(std::string_view name) {
  const std::vector<std::string_view> names = flat_names();
  return std::ranges::find(names, name) != names.end();
}

bool is_artifact_name(std::string_view name) {
  return name.ends_with(kArtifactSuffix) &&
         is_entry_id(name.substr(0, name.size() - kArtifactSuffix.size()));
}

std::string in_artifacts(std::string_view name) {
  return fmt::format("{}/{}", kArtifactsName, name);
}

Error stranger(const FileSystem& files, const std::string& path) {
  return path_error(ErrorCode::E_STORAGE_CORRUPT, files.display_path(path),
                    "is no file of a session, and archiving would lose it; move it out of the "
                    "session's folder");
}

/// The names in `folder` that are ours; anything else there must be local.
Result<std::vector<std::string>> list_ours(FileSystem& files, const std::string& folder,
                                           const std::function<bool(std::string_view)>& is_ours) {
  BMAD_TRY_ASSIGN(std::vector<std::string> names, files.list(folder));
  for (const std::string& name : names) {
    if (!is_ours(name) && !is_local_name(name)) {
      return stranger(files, fmt::format("{}/{}", folder, name));
    }
  }
  std::erase_if(names, [&](const std::string& name) { return !is_ours(name); });
  return names;
}

/// The names of the files in `folder` in the order of an archive.
Result<std::vector<std::string>> list_session_files(FileSystem& files, const std::string& folder) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> there,
                  list_ours(files, folder, [](std::string_view name) {
                    return name == kArtifactsName || is_flat_name(name);
                  }));
  std::vector<std::string> names;
  for (const std::string_view name : flat_names()) {  // access.jsonl is local, and goes along.
    if (is_among(there, name)) {
      names.emplace_back(name);
    }
  }
  if (is_among(there, kArtifactsName)) {
    const std::string artifacts = fmt::format("{}/{}", folder, kArtifactsName);
    BMAD_TRY_ASSIGN(const FileInfo info, files.info(artifacts));
    if (info.kind != FileKind::kDirectory) {
      return stranger(files, artifacts);
    }
    BMAD_TRY_ASSIGN(const std::vector<std::string> documents,
                    list_ours(files, artifacts, is_artifact_name));
    std::ranges::transform(documents, std::back_inserter(names), in_artifacts);
  }
  return names;
}

}  // namespace

bool is_session_file(std::string_view name) {
  const std::string folder = in_artifacts("");
  return name.starts_with(folder) ? is_artifact_name(name.substr(folder.size()))
                                  : is_flat_name(name);
}

std::optional<EntryType> log_of_copy(std::string_view name) {
  constexpr std::string_view kEnding = ".jsonl";
  for (const EntryType type : kEntryTypes) {
    std::string_view stem = entry_type_info(type).log_file;
    assert(stem.ends_with(kEnding));
    stem.remove_suffix(kEnding.size());
    if (name.size() > stem.size() + kEnding.size() && name.starts_with(stem) &&
        name.ends_with(kEnding) && std::string_view(" .-_(~").contains(name[stem.size()])) {
      return type;
    }
  }
  return std::nullopt;
}

Result<std::vector<ArchivedFile>> read_session_files(FileSystem& files,
                                                     std::string_view session_id) {
  const std::string folder = session_folder(session_id);
  const Result<std::vector<std::string>> names = list_session_files(files, folder);
  if (!names) {
    return is_not_found(names.error()) ? no_session(session_id, files.display_path(folder))
                                       : names.error();
  }
  std::vector<ArchivedFile> read;
  for (const std::string& name : *names) {
    assert(is_session_file(name));
    const std::string path = fmt::format("{}/{}", folder, name);
    BMAD_TRY_ASSIGN(const FileInfo info, files.info(path));
    if (info.kind != FileKind::kRegular) {
      return stranger(files, path);
    }
    constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
    BMAD_TRY_ASSIGN(std::string bytes, read_file(files, path, kNoLimit));
    // Without its time of change: what is equal is packed into equal bytes on every machine.
    read.push_back({.name = name, .bytes = std::move(bytes)});
  }
  if (read.empty() || read.front().name != kManifestName) {
    return path_error(ErrorCode::E_SESSION_CORRUPT, files.display_path(manifest_path(session_id)),
                      fmt::format("session {} has no manifest; `bmad-mem repair` makes one "
                                  "for the entries that are there",
                                  session_id));
  }
  return read;
}

}  // namespace bmad_mem
