// layout.cpp - the paths of everything on disk, how a root is found, and whose version it has.
#include "store/layout.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "base/process.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "store/config.hpp"
#include "store/posix_file_system.hpp"
#include "store/root_trust.hpp"

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

/// A path that the user gave, absolute.
std::string from_user(std::string_view named, const std::string& working_directory) {
  assert(!named.empty());
  const std::string path = with_home(named);
  if (path.starts_with('/')) {
    return path;
  }
  const fs::path joined = (fs::path(working_directory) / path).lexically_normal();
  return (joined.has_filename() ? joined : joined.parent_path()).string();  // "a/", but "/".
}

}  // namespace

std::string in_folder(const char* folder, std::string_view session_id, std::string_view suffix) {
  assert(is_session_id(session_id));
  return joined_path({folder, "/", session_id, suffix});
}

std::string log_path(std::string_view session_id, EntryType type) {
  return session_file(session_id, entry_type_info(type).log_file);
}

std::string session_file(std::string_view session_id, std::string_view name) {
  assert(is_session_id(session_id));
  assert(is_file_name(name));
  return joined_path({kSessionsFolder, "/", session_id, "/", name});
}

std::string artifact_path(std::string_view session_id, std::string_view entry_id) {
  assert(is_entry_id(entry_id));
  return fmt::format("{}/{}.md", session_file(session_id, kArtifactsName), entry_id);
}

std::string archive_local_path(std::string_view session_id) {
  assert(is_session_id(session_id));
  return fmt::format("{}/{}.{}.gz", kArchiveFolder, kLockName, session_id);
}

std::string evicted_path(std::string_view session_id, std::uint32_t part) {
  return in_folder(kArchiveFolder, session_id,
                   part < 2 ? ".evicted.jsonl.gz" : fmt::format(".evicted.{}.jsonl.gz", part));
}

std::string deleted_audit_path(std::string_view session_id) {
  return fmt::format("{}/{}", deleted_folder(session_id), kAuditName);
}

std::string deleted_session_folder(std::string_view session_id, std::string_view deletion_id) {
  return fmt::format("{}/{}", deleted_folder(session_id), deletion_id);
}

namespace {

/// What the file .git of a folder says.
struct GitFile {
  fs::path main = {};        ///< The main worktree of a linked one; else empty.
  std::string problem = {};  ///< Why a linked one has no main worktree.
};

/// Of the worktree at `folder`. .git is a file there, "gitdir: MAIN/.git/worktrees/NAME", where
/// `commondir` says "../.." and `gitdir` names that file.
GitFile read_git_file(const fs::path& folder) {
  std::error_code failure;
  const fs::path file = folder / ".git";
  const std::string line =
      fs::is_regular_file(file, failure) ? first_line_of_file(file) : std::string();
  if (!line.starts_with(kGitDir)) {
    return {};
  }
  const fs::path git = fs::weakly_canonical(folder / line.substr(kGitDir.size()), failure);
  const bool is_there = fs::exists(git, failure);
  const std::string common = first_line_of_file(git / "commondir");
  if (is_there && common.empty()) {
    return {};  // A submodule.
  }
  // What came in an archive may point anywhere: the repository itself must know this worktree.
  const fs::path shared = fs::weakly_canonical(git / common, failure);
  const fs::path known = git / first_line_of_file(git / "gitdir");
  if (!is_there || git.parent_path() != shared / "worktrees" ||
      !fs::equivalent(known, file, failure)) {
    return {.problem = fmt::format("{} leads to {}, which {}, so this worktree has no memory but "
                                   "its own; `git worktree repair` in the repository mends it",
                                   file.string(), git.string(),
                                   is_there ? "does not know this worktree" : "is not there")};
  }
  if (shared.filename() != ".git") {
    return {.problem = fmt::format("the repository {} has no main worktree, so each of its "
                                   "worktrees has a memory of its own",
                                   shared.string())};
  }
  return {.main = shared.parent_path()};
}

/// The root at `part` of the main worktree, or above it unless it has to be right there. Empty
/// where there is none or its config, as the user trusts it, wants each worktree to have its own.
std::string shared_root(const fs::path& main, fs::path part, bool right_there,
                        const std::string& state_folder) {
  std::error_code failure;
  for (;; part = part.parent_path()) {
    const fs::path root = (part == "." ? main : main / part) / kRootFolder;
    if (fs::is_directory(root, failure)) {
      const Result<std::unique_ptr<FileSystem>> files = open_posix_file_system(root.string());
      Result<LoadedConfig> loaded =
          files ? load_config(**files) : Result<LoadedConfig>(files.error());
      if (loaded) {
        loaded = parse_config(
            RootOrigins(state_folder, root.string()).trusted_config(loaded->config, loaded->text),
            kConfigFile);
      }
      const bool is_shared = !loaded || loaded->config.worktrees == "share";
      return is_shared ? root.string() : std::string();
    }
    if (right_there || part == "." || part.empty()) {
      return {};
    }
  }
}

/// The roots of a folder.
struct NearRoots {
  std::string own;      ///< In the folder or above it; empty: none.
  std::string shared;   ///< That of the main worktree, in place of `own`; empty: none.
  std::string problem;  ///< See GitFile.
};

/// Errors: E_STORAGE_IO when a folder may not be searched.
Result<NearRoots> near_roots(const std::string& working_directory,
                             const std::string& state_folder) {
  NearRoots found;
  fs::path own;
  fs::path below;  // "/" is its own parent.
  for (fs::path folder = working_directory; folder != below; folder = folder.parent_path()) {
    below = folder;
    std::error_code failure;
    if (own.empty()) {
      const fs::path root = folder / kRootFolder;
      const fs::file_status status = fs::status(root, failure);
      if (status.type() == fs::file_type::none) {
        return path_error(ErrorCode::E_STORAGE_IO, root.string(),
                          fmt::format("cannot look for a memory root here: {}; name one "
                                      "with --root or BMAD_MEMORY_ROOT",
                                      failure.message()),
                          failure.value());
      }
      if (status.type() == fs::file_type::directory) {
        own = folder;
        found.own = root.string();
      }
    }
    GitFile git = read_git_file(folder);
    found.problem = git.problem.empty() ? found.problem : std::move(git.problem);
    if (!git.main.empty()) {
      const fs::path& from = own.empty() ? fs::path(working_directory) : own;
      found.shared =
          shared_root(git.main, from.lexically_relative(folder), !own.empty(), state_folder);
    }
    if (!found.shared.empty() || (!own.empty() && fs::exists(folder / ".git", failure))) {
      break;
    }
  }
  return found;
}

}  // namespace

Result<std::string> find_root(std::string_view explicit_root, std::string_view env_value,
                              const std::string& working_directory,
                              const std::string& state_folder) {
  if (!explicit_root.empty() || !env_value.empty()) {
    return root_to_create(explicit_root, env_value, working_directory);
  }
  BMAD_TRY_ASSIGN(NearRoots found, near_roots(working_directory, state_folder));
  if (std::string root = found.shared.empty() ? std::move(found.own) : std::move(found.shared);
      !root.empty()) {
    return root;
  }
  return Error{
      .code = ErrorCode::E_SESSION_NOT_FOUND,
      .message = fmt::format("no {} in {} or above; run `bmad-mem init` there{}{}", kRootFolder,
                             working_directory, found.problem.empty() ? "" : " (",
                             found.problem.empty() ? "" : found.problem + ")")};
}

std::string checkout_root(const std::string& root, const std::string& working_directory,
                          const std::string& state_folder) {
  const Result<NearRoots> found = near_roots(working_directory, state_folder);
  return found && found->shared == root ? found->own : std::string();
}

std::string worktree_problem(const std::string& working_directory) {
  const Result<NearRoots> found = near_roots(working_directory, "");
  return found ? found->problem : std::string();
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
         "/sessions/*/**/*.tmp\n"
         "# What tools printed. Where events.track is true, `bmad-mem git install` tracks it.\n"
         "/sessions/*/events.jsonl\n";
}

namespace {

constexpr std::uint64_t kLayoutFileSizeMax = 64U << 10U;

class ReadOnlyFileSystem final : public FileSystemAround {
 public:
  ReadOnlyFileSystem(std::unique_ptr<FileSystem> files, Error why)
      : FileSystemAround(std::move(files)), why_(std::move(why)) {}

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    return mode == OpenMode::kRead ? inner().open(path, mode) : why_;
  }
  Status make_directory(const std::string& /*path*/) override { return why_; }
  Status rename(const std::string& /*from*/, const std::string& /*to*/) override { return why_; }
  Status remove(const std::string& /*path*/) override { return why_; }
  Status remove_directory(const std::string& /*path*/) override { return why_; }
  Status sync_directory(const std::string& /*path*/) override { return why_; }

 private:
  Error why_;
};

}  // namespace

Result<std::optional<Error>> newer_layout(FileSystem& files) {
  BMAD_TRY_ASSIGN(const auto text, if_there(read_file(files, kLayoutFile, kLayoutFileSizeMax)));
  if (!text) {
    return std::optional<Error>();
  }
  const ParsedJson root(*text);
  const std::int64_t version = root ? (*root)["layout_version"].integer() : 0;
  if (version >= 1 && version <= kLayoutVersion) {
    return std::optional<Error>();
  }
  return std::optional(Error{
      .code = ErrorCode::E_NEWER_VERSION,
      .message = version > kLayoutVersion
                     ? fmt::format("is {}, and this bmad-mem writes {}; install a newer bmad-mem",
                                   version, kLayoutVersion)
                     : "can't be read, so nothing is written; restore the file from git",
      .path = files.display_path(kLayoutFile),
      .field = "layout_version"});
}

std::unique_ptr<FileSystem> read_only_files(std::unique_ptr<FileSystem> files, Error why) {
  return std::make_unique<ReadOnlyFileSystem>(std::move(files), std::move(why));
}

namespace {

constexpr std::string_view kUnfinishedPrefix = ".";
constexpr std::string_view kUnfinishedSuffix = ".tmp";

}  // namespace

std::string unfinished_session_folder(std::string_view session_id) {
  assert(is_session_id(session_id));
  return fmt::format("{}/{}{}{}", kSessionsFolder, kUnfinishedPrefix, session_id,
                     kUnfinishedSuffix);
}

bool is_unfinished_session_name(std::string_view name) {
  return name.starts_with(kUnfinishedPrefix) && name.ends_with(kUnfinishedSuffix);
}

namespace {

/// Documents belong to entries. A folder for them alone is nothing that git keeps.
Result<bool> has_documents(FileSystem& files, std::string_view session_id) {
  const std::string folder = session_file(session_id, kArtifactsName);
  BMAD_TRY_ASSIGN(const FileInfo info, files.info(folder));
  if (info.kind != FileKind::kDirectory) {
    return true;
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, list_if_there(files, folder));
  return !std::ranges::all_of(names, is_local_name);
}

}  // namespace

bool is_local_name(std::string_view name) {
  return name.starts_with(kLockName) || name == kIndexName || name == kAccessName ||
         name.ends_with(".tmp") || is_editor_leftover(name);
}

bool is_editor_leftover(std::string_view name) {
  return name == "4913" || name == ".DS_Store" || name == "Thumbs.db" || name.ends_with('~') ||
         (name.starts_with('#') && name.ends_with('#')) ||
         (name.starts_with('.') && (name.ends_with(".swp") || name.ends_with(".swo")));
}

Result<bool> is_remains(FileSystem& files, std::string_view session_id) {
  BMAD_TRY_ASSIGN(const bool has_manifest, is_there(files, manifest_path(session_id)));
  if (has_manifest) {
    return false;
  }
  const std::string folder = session_folder(session_id);
  BMAD_TRY_ASSIGN(const auto info, if_there(files.info(folder)));
  if (!info || info->kind != FileKind::kDirectory) {
    return false;
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, list_if_there(files, folder));
  for (const std::string& name : names) {
    if (name == kArtifactsName) {
      BMAD_TRY_ASSIGN(const bool has, has_documents(files, session_id));
      if (has) {
        return false;
      }
    } else if (!is_local_name(name) && name != kEventsName) {
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

Error no_session(std::string_view session_id, std::string path) {
  return path_error(
      ErrorCode::E_SESSION_NOT_FOUND, std::move(path),
      fmt::format("there is no session {}; `bmad-mem session list` shows the ones there are",
                  session_id));
}

}  // namespace bmad_mem
