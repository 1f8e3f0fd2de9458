#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/text.hpp"
#include "cli/tool.hpp"
#include "exchange/file_lines.hpp"
#include "exchange/files.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/database.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kSlugSizeMax = 200;

bool is_folder(const std::string& path) {
  std::error_code gone;
  return std::filesystem::is_directory(path, gone);
}

Error nothing_there(std::string_view what, const std::string& path) {
  return {.code = ErrorCode::E_STORAGE_IO,
          .message = fmt::format("found nothing here of: {}; name the files to import", what),
          .path = path};
}

bool lies_in(std::string_view folder, std::string_view project) {
  return folder.starts_with(project) && (folder.size() == project.size() ||
                                         project.ends_with('/') || folder[project.size()] == '/');
}

/// The beginning of a file; empty when it can't be read, which the import itself will tell.
std::string beginning_of(const std::string& path) {
  Result<FileLines> lines = FileLines::open(path);
  if (!lines) {
    return {};
  }
  const Result<std::string_view> text = lines->first_line();
  return text ? std::string(*text) : std::string();
}

/// In which folder the records of a file were made, as the first that names one says.
std::string folder_of_records(const std::string& path) {
  const std::string beginning = beginning_of(path);
  JsonParser parser;
  for (std::string_view rest = beginning; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!line.contains("\"cwd\"")) {
      continue;
    }
    if (const Result<JsonValue> record = parser.parse(repaired_json(line))) {
      for (const JsonValue cwd :
           {(*record)["cwd"], (*record)["payload"]["cwd"], (*record)["data"]["context"]["cwd"]}) {
        if (!cwd.string().empty()) {
          return std::string(cwd.string());
        }
      }
    }
  }
  if (const Result<JsonValue> whole = parser.parse(beginning); whole && whole->is_object()) {
    return std::string((*whole)["cwd"].string());
  }
  // Cline and Roo Code tell it to the model.
  for (const std::string_view words :
       {"Current Working Directory (", "Current Workspace Directory ("}) {
    if (const std::size_t found = beginning.find(words); found != std::string::npos) {
      const std::size_t begin = found + words.size();
      return beginning.substr(begin, beginning.find(')', begin) - begin);
    }
  }
  return {};
}

/// The ids of the chats that Cursor's database of a workspace names. Errors: as Database::open().
Result<std::vector<std::string>> cursor_chats_of(const std::string& workspace_database) {
  BMAD_TRY_ASSIGN(const Database database, Database::open(workspace_database));
  std::vector<std::string> ids;
  BMAD_TRY_ASSIGN(const bool has_items, database.has_table("ItemTable"));
  if (has_items) {
    BMAD_TRY(database.rows("SELECT value FROM ItemTable WHERE key = 'composer.composerData'", {},
                           [&](JsonValue row, std::uint64_t) {
                             JsonParser parser;
                             if (const auto data = parser.parse(row["value"].string())) {
                               for (const JsonValue chat : (*data)["allComposers"].elements()) {
                                 ids.emplace_back(chat["composerId"].string());
                               }
                             }
                             return Status();
                           }));
  }
  return ids;
}

/// Looks for the files of one project, which may be in several worktrees.
class PlaceSearch {
 public:
  PlaceSearch(const std::string& project, const std::vector<std::string>& worktrees,
              bool all_projects)
      : projects_({project}), all_(all_projects) {
    projects_.insert(projects_.end(), worktrees.begin(), worktrees.end());
    for (std::size_t i = 0, named = projects_.size(); i < named; ++i) {
      if (std::string real = real_path_of(projects_[i]); !real.empty() && real != projects_[i]) {
        projects_.push_back(std::move(real));
      }
    }
  }

  Status claude(const std::string& projects) {
    if (!is_folder(projects)) {
      return nothing_there("transcripts of Claude Code", projects);
    }
    std::vector<std::string> slugs;
    std::ranges::transform(projects_, std::back_inserter(slugs), claude_slug);
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, names_in(projects));
    for (const std::string& name : names) {
      const std::string folder = fmt::format("{}/{}", projects, name);
      const bool is_exact = std::ranges::find(slugs, name) != slugs.end();
      // Folders in the project have longer names; what is not in it is told by the records.
      const bool may_be = std::ranges::any_of(slugs, [&](const std::string& slug) {
        return name.starts_with(slug.substr(0, kSlugSizeMax));
      });
      if (!is_folder(folder)) {
        continue;
      }
      if (!all_ && !may_be) {
        BMAD_TRY_ASSIGN(const std::vector<ImportFile> others,
                        find_import_files({folder}, find_import_format("claude-code")));
        found_.of_other_projects += others.size();
        continue;
      }
      BMAD_TRY(add_of_project(folder, is_exact, find_import_format("claude-code")));
      if ((is_exact || all_) && is_folder(folder + "/memory")) {
        BMAD_TRY_ASSIGN(
            std::vector<ImportFile> notes,
            find_import_files({folder + "/memory"}, find_import_format("basic-memory")));
        for (ImportFile& note : notes) {
          note.format = find_import_format("basic-memory");
          found_.files.push_back(std::move(note));
        }
      }
    }
    return {};
  }

  Status codex(const std::string& home) {
    bool is_there = false;
    for (const char* name : {"/sessions", "/archived_sessions"}) {
      if (is_folder(home + name)) {
        is_there = true;
        BMAD_TRY(add_of_project(home + name, false, find_import_format("codex")));
      }
    }
    return is_there ? Status() : Status(nothing_there("rollouts of Codex", home + "/sessions"));
  }

  Status gemini(const std::string& home) {
    const std::string tmp = home + "/tmp";
    if (!is_folder(tmp)) {
      return nothing_there("chats of Gemini CLI", tmp);
    }
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, names_in(tmp));
    for (const std::string& name : names) {
      const std::string chats = fmt::format("{}/{}/chats", tmp, name);
      if (!is_folder(chats)) {
        continue;
      }
      BMAD_TRY_ASSIGN(std::vector<ImportFile> files,
                      find_import_files({chats}, find_import_format("gemini")));
      if (all_ || is_gemini_name(home, name)) {
        std::ranges::move(files, std::back_inserter(found_.files));
      } else {
        found_.of_other_projects += files.size();
      }
    }
    return {};
  }

  /// Files in one folder.
  Status folder(const std::string& folder, ImportFormat format) {
    if (!is_folder(folder)) {
      return nothing_there(format->title, folder);
    }
    return add_of_project(folder, false, format);
  }

  /// Memories that belong to no project.
  Status all_in(const std::string& folder, ImportFormat format) {
    if (!is_folder(folder)) {
      return nothing_there(format->title, folder);
    }
    BMAD_TRY_ASSIGN(found_.files, find_import_files({folder}, format));
    return {};
  }

  Status aider() {
    std::vector<std::string> paths;
    for (const std::string& project : projects_) {
      std::error_code gone;
      const std::string path = project + "/.aider.chat.history.md";
      if (std::filesystem::is_regular_file(path, gone)) {
        paths.push_back(path);
      }
    }
    if (paths.empty()) {
      return nothing_there("chats of Aider", projects_.front() + "/.aider.chat.history.md");
    }
    BMAD_TRY_ASSIGN(found_.files, find_import_files(paths, find_import_format("aider")));
    return {};
  }

  /// Sessions of Cline 3, and tasks of Cline and Roo Code in Visual Studio Code.
  Status cline(const std::string& storage) {
    const std::string sessions = cline_sessions();
    bool is_there = is_folder(sessions);
    if (is_there) {
      BMAD_TRY(add_of_project(sessions, false, find_import_format("cline")));
    }
    for (const char* extension : {"saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline"}) {
      const std::string tasks = fmt::format("{}/{}/tasks", storage, extension);
      if (is_folder(tasks)) {
        is_there = true;
        BMAD_TRY(add_of_project(tasks, false, find_import_format("cline")));
      }
    }
    return is_there ? Status() : Status(nothing_there("tasks of Cline or Roo Code", storage));
  }

  /// One file, of all projects.
  Status one_file(const std::string& path, ImportFormat format) {
    std::error_code gone;
    if (!std::filesystem::is_regular_file(path, gone)) {
      return nothing_there(format->title, path);
    }
    BMAD_TRY_ASSIGN(found_.files, find_import_files({path}, format));
    for (ImportFile& file : found_.files) {  // It says names of projects, and not where they are.
      if (!all_) {
        std::ranges::transform(
            projects_, std::back_inserter(file.only),
            [](const std::string& each) { return std::string(base_name(each)); });
      }
    }
    return {};
  }

  /// Databases of Cursor. That of a workspace says which of the chats in the common one are its.
  Status cursor(const std::string& user) {
    const std::string common = user + "/globalStorage/state.vscdb";
    const std::string workspaces = user + "/workspaceStorage";
    std::error_code gone;
    const bool has_common = std::filesystem::is_regular_file(common, gone);
    if (!has_common && !is_folder(workspaces)) {
      return nothing_there("chats of Cursor", user);
    }
    std::vector<std::string> chats;
    std::vector<std::string> names;
    if (is_folder(workspaces)) {
      BMAD_TRY_ASSIGN(names, names_in(workspaces));
    }
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/{}/state.vscdb", workspaces, name);
      if (!std::filesystem::is_regular_file(path, gone)) {
        continue;
      }
      if (!all_ && !is_cursor_workspace(fmt::format("{}/{}/workspace.json", workspaces, name))) {
        ++found_.of_other_projects;
        continue;
      }
      BMAD_TRY_ASSIGN(const std::vector<std::string> ids, cursor_chats_of(path));
      chats.insert(chats.end(), ids.begin(), ids.end());
      BMAD_TRY(add_cursor_file(path, {}));
    }
    const bool wants_common = has_common && (all_ || !chats.empty());
    return wants_common ? add_cursor_file(common, all_ ? std::vector<std::string>() : chats)
                        : Status();
  }

  FoundImports take() { return std::move(found_); }

 private:
  [[nodiscard]] bool is_project(std::string_view folder) const {
    return is_among(projects_, folder);
  }

  Status add_cursor_file(const std::string& path, const std::vector<std::string>& only) {
    BMAD_TRY_ASSIGN(std::vector<ImportFile> files,
                    find_import_files({path}, find_import_format("cursor")));
    for (ImportFile& file : files) {
      file.only = only;
      found_.files.push_back(std::move(file));
    }
    return {};
  }

  /// Whether a workspace.json is of the project: {"folder":"file:///home/ann/night%20boats"}
  [[nodiscard]] bool is_cursor_workspace(const std::string& path) const {
    constexpr std::string_view kScheme = "file://";
    JsonParser parser;
    const Result<JsonValue> workspace = parser.parse(beginning_of(path));
    const std::string_view folder = workspace ? (*workspace)["folder"].string() : "";
    return folder.starts_with(kScheme) &&
           is_project(percent_decoded(folder.substr(kScheme.size())));
  }

  /// Files below `folder` whose records were made in the project; those that name no folder only
  /// with `also_unnamed`.
  Status add_of_project(const std::string& folder, bool also_unnamed, ImportFormat format) {
    BMAD_TRY_ASSIGN(std::vector<ImportFile> files, find_import_files({folder}, format));
    for (ImportFile& file : files) {
      std::string made_in = all_ ? "" : folder_of_records(file.path);
      if (made_in.empty() && !all_ && format->name == "cline") {
        const std::size_t end = file.path.rfind(".messages.json");
        made_in = folder_of_records(
            end != std::string::npos
                ? file.path.substr(0, end) + ".json"
                : (std::filesystem::path(file.path).parent_path() / "api_conversation_history.json")
                      .string());
      }
      if (all_ || (made_in.empty() && also_unnamed) ||
          (!made_in.empty() && std::ranges::any_of(projects_, [&](const std::string& project) {
            return lies_in(made_in, project);
          }))) {
        found_.files.push_back(std::move(file));
      } else {
        ++found_.of_other_projects;
      }
    }
    return {};
  }

  /// Whether Gemini CLI calls the project so: by its hash, or by a short name that is noted in the
  /// folder itself and in projects.json.
  [[nodiscard]] bool is_gemini_name(const std::string& home, const std::string& name) const {
    if (std::ranges::any_of(projects_,
                            [&](const auto& each) { return name == sha256_hex(each); })) {
      return true;
    }
    const std::string noted = beginning_of(fmt::format("{}/tmp/{}/.project_root", home, name));
    if (!noted.empty() && is_project(stripped(noted))) {
      return true;
    }
    JsonParser parser;
    const Result<JsonValue> projects = parser.parse(beginning_of(home + "/projects.json"));
    return projects && std::ranges::any_of(projects_, [&](const std::string& project) {
             return (*projects)["projects"][project].string() == name;
           });
  }

  std::vector<std::string> projects_;  ///< As they are named, then as they are without links.
  bool all_;
  FoundImports found_;
};

}  // namespace

std::string claude_slug(std::string_view project) {
  std::string slug;
  for (const char c : project) {
    slug += is_alnum(c) ? c : '-';
  }
  return slug;
}

std::string cline_sessions() {
  if (const std::string_view own = environment("CLINE_SESSION_DATA_DIR"); !own.empty()) {
    return std::string(own);
  }
  if (const std::string_view data = environment("CLINE_DATA_DIR"); !data.empty()) {
    return fmt::format("{}/sessions", data);
  }
  const std::string_view own = environment("CLINE_DIR");
  return own.empty() ? fmt::format("{}/.cline/data/sessions", environment("HOME"))
                     : fmt::format("{}/data/sessions", own);
}

Result<FoundImports> find_usual_places(ImportFormat format, const ClientFolders& folders,
                                       const std::string& project, bool all_projects) {
  const auto place = [&](const std::string& own, std::string_view usual) {
    return own.empty() ? fmt::format("{}/{}", folders.home, usual) : own;
  };
  PlaceSearch search(project, folders.worktrees, all_projects);
  if (format->name == "claude-code") {
    BMAD_TRY(search.claude(place(folders.claude, ".claude") + "/projects"));
  } else if (format->name == "codex") {
    BMAD_TRY(search.codex(place(folders.codex, ".codex")));
  } else if (format->name == "gemini") {
    BMAD_TRY(search.gemini(place("", ".gemini")));
  } else if (format->name == "qwen") {
    BMAD_TRY(search.folder(place("", ".qwen") + "/projects", format));
  } else if (format->name == "copilot") {
    BMAD_TRY(search.folder(place("", ".copilot") + "/session-state", format));
  } else if (format->name == "codex-memories") {
    BMAD_TRY(search.all_in(place(folders.codex, ".codex") + "/memories", format));
  } else if (format->name == "aider") {
    BMAD_TRY(search.aider());
  } else if (format->name == "cline") {
    BMAD_TRY(search.cline(place("", ".config/Code/User/globalStorage")));
  } else if (format->name == "claude-mem") {
    BMAD_TRY(search.one_file(place(folders.claude_mem, ".claude-mem") + "/claude-mem.db", format));
  } else if (format->name == "cursor") {
    BMAD_TRY(search.cursor(place("", ".config/Cursor/User")));
  } else if (folders.memory_file.empty()) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message =
                     "MEMORY_FILE_PATH does not say where the memory server keeps its file; "
                     "name the file to import"};
  } else {
    FoundImports found;
    BMAD_TRY_ASSIGN(found.files, find_import_files({folders.memory_file}, format));
    return found;
  }
  return search.take();
}

}  // namespace bmad_mem::cli
