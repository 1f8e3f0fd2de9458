// session_files.cpp - which files of a session's folder are its memory, read in their order.
#include <algorithm>
#include <cassert>
#include <limits>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "bmad_mem/entry_type.hpp"
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

class Collector {
 public:
  Collector(FileSystem& files, std::string_view session_id)
      : files_(files), folder_(session_folder(session_id)) {}

  /// What lies in the folder, checked: nothing but what we know.
  Status find() {
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, files_.list(folder_));
    for (const std::string& name : names) {
      if (name == kArtifactsName) {
        BMAD_TRY(find_artifacts());
      } else if (is_flat_name(name)) {  // access.jsonl is local, and goes along all the same.
        found_.push_back(name);
      } else if (!is_local_name(name)) {
        return stranger(name);
      }
    }
    return {};
  }

  Result<std::vector<ArchivedFile>> read() {
    std::vector<ArchivedFile> out;
    for (const std::string_view name : flat_names()) {
      if (std::ranges::find(found_, name) != found_.end()) {
        BMAD_TRY(read_one(std::string(name), out));
      }
    }
    for (const std::string& name : artifacts_) {
      BMAD_TRY(read_one(in_artifacts(name), out));
    }
    return out;
  }

 private:
  Status find_artifacts() {
    BMAD_TRY_ASSIGN(const FileInfo info, files_.info(path_of(kArtifactsName)));
    if (info.kind != FileKind::kDirectory) {
      return stranger(kArtifactsName);
    }
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, files_.list(path_of(kArtifactsName)));
    for (const std::string& name : names) {
      if (is_artifact_name(name)) {
        artifacts_.push_back(name);
      } else if (!is_local_name(name)) {
        return stranger(in_artifacts(name));
      }
    }
    return {};
  }

  Status read_one(const std::string& name, std::vector<ArchivedFile>& out) {
    assert(is_session_file(name));
    const std::string path = path_of(name);
    BMAD_TRY_ASSIGN(const FileInfo info, files_.info(path));
    if (info.kind != FileKind::kRegular) {
      return stranger(name);
    }
    constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
    BMAD_TRY_ASSIGN(std::string bytes, read_file(files_, path, kNoLimit));
    // Without its time of change: what is equal is packed into equal bytes on every machine.
    out.push_back({.name = name, .bytes = std::move(bytes)});
    return {};
  }

  [[nodiscard]] std::string path_of(std::string_view name) const {
    return fmt::format("{}/{}", folder_, name);
  }

  [[nodiscard]] Error stranger(std::string_view name) const {
    return path_error(ErrorCode::E_STORAGE_CORRUPT, files_.display_path(path_of(name)),
                      "is no file of a session, and archiving would lose it; move it out of the "
                      "session's folder");
  }

  FileSystem& files_;
  std::string folder_;
  std::vector<std::string> found_;
  std::vector<std::string> artifacts_;
};

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
  Collector collector(files, session_id);
  if (Status found = collector.find(); !found) {
    if (!is_not_found(found.error())) {
      return found.error();
    }
    return no_session(session_id, files.display_path(session_folder(session_id)));
  }
  BMAD_TRY_ASSIGN(std::vector<ArchivedFile> read, collector.read());
  if (read.empty() || read.front().name != kManifestName) {
    return path_error(ErrorCode::E_SESSION_CORRUPT, files.display_path(manifest_path(session_id)),
                      fmt::format("session {} has no manifest; `bmad-mem repair` makes one "
                                  "for the entries that are there",
                                  session_id));
  }
  return read;
}

}  // namespace bmad_mem
