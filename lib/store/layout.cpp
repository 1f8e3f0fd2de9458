#include "store/layout.hpp"

#include <cassert>
#include <filesystem>
#include <initializer_list>
#include <system_error>

#include <fmt/format.h>

#include "base/ids.hpp"

namespace bmad_mem {
namespace {

namespace fs = std::filesystem;

/// Whether `name` is one file name of ours: no folder in front, not "..".
[[maybe_unused]] bool is_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

/// An append makes some ten paths: joining them costs a third of formatting them.
std::string joined_path(std::initializer_list<std::string_view> parts) {
  std::string path;
  path.reserve(64);
  for (const std::string_view part : parts) {
    path += part;
  }
  return path;
}

std::string in_folder(const char* folder, std::string_view session_id, std::string_view suffix) {
  assert(is_session_id(session_id));
  return joined_path({folder, "/", session_id, suffix});
}

/// A path that the user gave, absolute.
std::string from_user(std::string_view path, const std::string& working_directory) {
  if (path.starts_with('/')) {
    return std::string(path);
  }
  const fs::path joined = (fs::path(working_directory) / path).lexically_normal();
  return (joined.has_filename() ? joined : joined.parent_path()).string();  // "a/", but "/".
}

}  // namespace

std::string session_folder(std::string_view session_id) {
  return in_folder(kSessionsFolder, session_id, "");
}

std::string session_file(std::string_view session_id, std::string_view name) {
  assert(is_session_id(session_id));
  assert(is_file_name(name));
  return joined_path({kSessionsFolder, "/", session_id, "/", name});
}

std::string manifest_path(std::string_view session_id) {
  return session_file(session_id, kManifestName);
}

std::string index_path(std::string_view session_id) { return session_file(session_id, kIndexName); }

std::string lock_path(std::string_view session_id) { return session_file(session_id, kLockName); }

std::string seal_path(std::string_view session_id) { return session_file(session_id, kSealName); }

std::string lock_info_path(std::string_view session_id) {
  return session_file(session_id, kLockInfoName);
}

std::string quarantine_path(std::string_view session_id) {
  return session_file(session_id, kQuarantineName);
}

std::string audit_path(std::string_view session_id) { return session_file(session_id, kAuditName); }

std::string access_path(std::string_view session_id) {
  return session_file(session_id, kAccessName);
}

std::string artifact_path(std::string_view session_id, std::string_view entry_id) {
  assert(is_entry_id(entry_id));
  return fmt::format("{}/{}.md", session_file(session_id, kArtifactsName), entry_id);
}

std::string kept_path(std::string_view session_id) {
  return in_folder(kKeptFolder, session_id, ".jsonl");
}

std::string archive_path(std::string_view session_id) {
  return in_folder(kArchiveFolder, session_id, ".tar.gz");
}

std::string archive_manifest_path(std::string_view session_id) {
  return in_folder(kArchiveFolder, session_id, ".manifest.json");
}

std::string evicted_path(std::string_view session_id) {
  return in_folder(kArchiveFolder, session_id, ".evicted.jsonl.gz");
}

std::string archive_index_path(std::string_view session_id) {
  return in_folder(kArchiveFolder, session_id, ".index.json");
}

std::string archive_known_path(std::string_view session_id) {
  return in_folder(kArchiveFolder, session_id, ".known.jsonl");
}

std::string evicted_index_path(std::string_view session_id) {
  return in_folder(kArchiveFolder, session_id, ".evicted.jsonl.index.json");
}

std::string deleted_folder(std::string_view session_id) {
  return in_folder(kDeletedFolder, session_id, "");
}

std::string deletion_record_path(std::string_view session_id) {
  return deleted_folder(session_id) + "/deletion-record.json";
}

std::string deleted_entries_path(std::string_view session_id) {
  return deleted_folder(session_id) + "/entries.jsonl";
}

std::string deleted_audit_path(std::string_view session_id) {
  return fmt::format("{}/{}", deleted_folder(session_id), kAuditName);
}

std::string deleted_session_folder(std::string_view session_id, std::string_view deletion_id) {
  return fmt::format("{}/{}", deleted_folder(session_id), deletion_id);
}

Result<std::string> find_root(std::string_view explicit_root, std::string_view env_value,
                              const std::string& working_directory) {
  for (const std::string_view named : {explicit_root, env_value}) {
    if (!named.empty()) {
      return from_user(named, working_directory);
    }
  }
  fs::path below;  // "/" is its own parent.
  for (fs::path folder = working_directory; folder != below; folder = folder.parent_path()) {
    below = folder;
    const fs::path root = folder / kRootFolder;
    std::error_code failure;
    const fs::file_status status = fs::status(root, failure);
    if (status.type() == fs::file_type::directory) {
      return root.string();
    }
    if (status.type() == fs::file_type::none) {
      return Error{.code = ErrorCode::E_STORAGE_IO,
                   .message = fmt::format("cannot look for a memory root here: {}; name one with "
                                          "--root or BMAD_MEMORY_ROOT",
                                          failure.message()),
                   .path = root.string(),
                   .os_error = failure.value()};
    }
  }
  return Error{.code = ErrorCode::E_SESSION_NOT_FOUND,
               .message = fmt::format("no {} in {} or above; run `bmad-mem init` there",
                                      kRootFolder, working_directory)};
}

std::string root_to_create(std::string_view explicit_root, std::string_view env_value,
                           const std::string& working_directory) {
  for (const std::string_view named : {explicit_root, env_value}) {
    if (!named.empty()) {
      return from_user(named, working_directory);
    }
  }
  return from_user(kRootFolder, working_directory);
}

std::string_view gitignore_text() {
  // Every pattern says where: "deleted/" alone would also hide a session that is named "deleted".
  return "# Derived from the logs, local to this machine, or deleted. Everything else is memory.\n"
         ".lock*\n"
         "/.redaction-key\n"
         "/catalog.json\n"
         "/maintenance.json\n"
         "/sessions/*/index.json\n"
         "/sessions/*/access.jsonl\n"
         "/archive/*.index.json\n"
         "/archive/*.known.jsonl\n"
         "/shared/*.json\n"
         "/deleted/\n"
         "/index/\n"
         "# Left behind by a process that died.\n"
         "/*.tmp\n"
         "/shared/**/*.tmp\n"
         "/archive/*.tmp\n"
         "/sessions/*/**/*.tmp\n";
}

}  // namespace bmad_mem
