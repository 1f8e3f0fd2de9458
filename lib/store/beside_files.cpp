// beside_files.cpp - the files of a root outside of sessions, and manifests that a hub mirrors.
#include "store/beside_files.hpp"

#include <cassert>
#include <optional>

#include <fmt/format.h>

#include "base/object_text.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "store/atomic_file.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr int kBesideDepthMax = 32;

/// Names at the root that have their own way: sessions, copies of them, what is derived, settings,
/// what is known of a hub.
bool is_known_name(std::string_view name) {
  constexpr std::string_view kNames[] = {
      kSessionsFolder, kSharedFolder,     kArchiveFolder, kDeletedFolder, kIndexFolder,
      kHubFolder,      kConfigFile,       kLayoutFile,    kGitignoreFile, kMaintenanceFile,
      "catalog.json",  kRedactionKeyFile, ".git",         kEncryptionFile};
  return is_among(kNames, name) || name.starts_with(kLockName);
}

Status add_files(FileSystem& files, const std::string& folder, int depth,
                 std::vector<std::string>& paths) {
  if (depth > kBesideDepthMax) {
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

constexpr std::uint64_t kMirrorSizeMax = 256U << 20U;
constexpr std::string_view kEnding = ".json";
constexpr std::string_view kLeftover = ".tmp";
constexpr std::string_view kBeginsAgain =
    "{\"version\":1,\"seq\":0,\"behind\":true,\"manifest\":\"\",\"logs\":{},\"out\":[]}\n";

/// A file of hub/sessions in which something goes.
struct Found {
  std::string path;
  std::string left;  ///< Its bytes from now on; empty: it goes as a whole.
};

std::string without_manifest(const std::string& bytes) {
  const ParsedJson value(bytes);
  if (!value || !(*value)["manifest"].is_string()) {
    return std::string(kBeginsAgain);
  }
  ObjectText object(*value, bytes);
  object.set_string("manifest", "{}");
  return object.to_line() + "\n";
}

Result<std::vector<Found>> find_mirrored(FileSystem& files, std::span<const std::string> sessions,
                                         const ManifestGoes& goes) {
  std::vector<Found> found;
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, list_if_there(files, kHubSessionsFolder));
  for (const std::string& name : names) {
    std::string_view id = name;
    const bool is_leftover = id.ends_with(kLeftover);
    id.remove_suffix(is_leftover ? kLeftover.size() : 0);
    if (!id.ends_with(kEnding)) {
      continue;
    }
    id.remove_suffix(kEnding.size());
    if (!sessions.empty() && !is_among(sessions, id)) {
      continue;
    }
    std::string path = fmt::format("{}/{}", kHubSessionsFolder, name);
    BMAD_TRY_ASSIGN(const auto bytes, if_there(read_file(files, path, kMirrorSizeMax)));
    if (bytes && goes(id, is_leftover ? *bytes : mirrored_manifest(*bytes))) {
      found.push_back({.path = std::move(path),
                       .left = is_leftover ? std::string() : without_manifest(*bytes)});
    }
  }
  return found;
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

std::string mirrored_manifest(const std::string& bytes) {
  const ParsedJson value(bytes);
  return value && (*value)["manifest"].is_string() ? std::string((*value)["manifest"].string())
                                                   : bytes;
}

Result<std::vector<std::string>> drop_mirrored_manifests(const Store& store,
                                                         std::span<const std::string> sessions,
                                                         bool dry_run, const ManifestGoes& goes) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(std::vector<Found> found, find_mirrored(files, sessions, goes));
  std::optional<FileLock::Guard> guard;
  if (!found.empty() && !dry_run) {
    FileLock lock(files, store.clock, kHubLockName, kHubLockInfoName);
    BMAD_TRY_ASSIGN(guard, lock.acquire({.operation = "forget",
                                         .agent_id = store.agent_id,
                                         .timeout = store.lock_timeout}));
    BMAD_TRY_ASSIGN(found, find_mirrored(files, sessions, goes));  // A sync may have changed them.
  }
  assert((dry_run || found.empty() || guard) && "the hub's lock is held before a file changes");
  std::vector<std::string> paths;
  for (const Found& each : found) {
    paths.push_back(each.path);
    if (!dry_run) {
      BMAD_TRY(each.left.empty() ? remove_durably(files, each.path)
                                 : replace_file(files, each.path, each.left));
    }
  }
  return paths;
}

}  // namespace bmad_mem
