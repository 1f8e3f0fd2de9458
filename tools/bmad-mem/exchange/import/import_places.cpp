// import_places.cpp - searches the usual places of other programs for files of a project.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
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

/// The beginning of a file; empty when it can't be read, which the import itself will tell.
std::string beginning_of(const std::string& path) {
  Result<FileLines> lines = FileLines::open(path);
  const Result<std::string_view> text = lines ? lines->first_line() : Error{};
  return std::string(text.value_or(""));
}

/// In which folder the records of a file were made, as the first that names one says.
std::string folder_of_records(const std::string& path) {
  const std::string beginning = beginning_of(path);
  JsonParser parser;
  for (std::string_view rest = beginning; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (!line.contains("\"cwd\"") && !line.contains("\"working_dir\"")) {
      continue;
    }
    if (const Result<JsonValue> record = parser.parse(repaired_json(line))) {
      for (const JsonValue cwd : {(*record)["cwd"], (*record)["payload"]["cwd"],
                                  (*record)["data"]["context"]["cwd"], (*record)["working_dir"]}) {
        if (!cwd.string().empty()) {
          return std::string(cwd.string());
        }
      }
    }
  }
  if (const ParsedJson whole(beginning); whole && whole->is_object()) {
    return std::string(whole["cwd"].string());
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

/// A place that is there, and the folder in it that stands for a project.
struct Place {
  std::string path;
  std::string folder;  ///< What the pattern's first "*" stands for, with all in front of it.
};

/// `text` with the folder that a "$NAME" or "~" in front names; empty where it names none.
std::string with_home(std::string_view text) {
  const std::string name(text.substr(0, text.find('/')));
  if (name != "~" && !name.starts_with('$')) {
    return std::string(text);
  }
  const std::string_view folder = environment(name == "~" ? "HOME" : name.substr(1).c_str());
  return folder.empty() ? "" : fmt::format("{}{}", folder, text.substr(name.size()));
}

/// What of a place counts here: the first text whose variable is set, else the last one.
std::string pattern_of(const ImportPlace& place) {
  assert(!place.at.empty());
  const auto set = std::ranges::find_if(
      place.at, [](std::string_view text) { return !with_home(text).empty(); });
  return std::string(set == place.at.end() ? place.at.back() : *set);
}

/// Appends what is there of `pattern`, which is a path in front of `from`. Errors: E_STORAGE_IO.
Status append_matches(const std::string& pattern, std::size_t from, const std::string& folder,
                      std::vector<Place>& places) {
  assert(from <= pattern.size());
  const std::size_t at = std::min(pattern.find_first_of("{*", from), pattern.size());
  const std::string front = pattern.substr(0, at);
  if (at == pattern.size()) {
    if (std::string path = with_home(pattern); is_there(path)) {
      places.push_back({.path = std::move(path), .folder = folder});
    }
  } else if (pattern[at] == '{') {
    const std::size_t end = pattern.find('}', at);
    assert(end != std::string::npos && "a row of the table closes its brackets");
    const std::string words = pattern.substr(at + 1, end - at - 1);
    for (const std::string_view word : lines_of(words, ',')) {
      const std::string one = fmt::format("{}{}{}", front, word, pattern.substr(end + 1));
      BMAD_TRY(append_matches(one, at, folder, places));
    }
  } else if (const std::string parent = with_home(front.substr(0, front.rfind('/') + 1));
             is_folder(parent)) {
    const std::size_t end = std::min(pattern.find('/', at), pattern.size());
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, names_in(parent));
    for (const std::string& name : names) {
      if (is_path_like(name, base_name(std::string_view(pattern).substr(0, end)))) {
        const std::string here = parent + name;
        BMAD_TRY(append_matches(here + pattern.substr(end), here.size(),
                                folder.empty() ? here : folder, places));
      }
    }
  }
  return {};
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

  /// Searches one place, relative ones in each of the project's folders. Whether it is there.
  Result<bool> search(const ImportPlace& place, ImportFormat format) {
    std::vector<Place> places;
    const std::string pattern = pattern_of(place);
    assert(!pattern.empty());
    const bool is_relative = !std::string_view("/~${").contains(pattern[0]);
    for (std::size_t i = 0; i < (is_relative ? projects_.size() : 1); ++i) {
      const std::string front = is_relative ? projects_[i] + '/' : "";
      BMAD_TRY(append_matches(front + pattern, front.size(), {}, places));
    }
    for (const Place& each : places) {
      if (seen_.insert(real_path_of(each.path)).second) {
        BMAD_TRY_ASSIGN(const IsOurs is_ours, find_out(place.by, each));
        BMAD_TRY(add(each.path, place.as.empty() ? format : find_import_format(place.as), is_ours));
      }
    }
    return !places.empty();
  }

  FoundImports take() { return std::move(found_); }

 private:
  /// Whether a file at or below a place is the project's; empty: the place has nothing of it. Which
  /// of its chats or projects are wanted is in only_.
  using IsOurs = std::function<bool(const std::string& file)>;

  Result<IsOurs> find_out(std::string_view by, const Place& place) {
    using Way = Result<IsOurs> (PlaceSearch::*)(const Place&);
    static constexpr std::pair<std::string_view, Way> kWays[] = {
        {"cwd", &PlaceSearch::by_records},         {"cwd in folder", &PlaceSearch::by_folder},
        {"slug", &PlaceSearch::by_slug},           {"short name", &PlaceSearch::by_short_name},
        {"workspace", &PlaceSearch::by_workspace}, {"chats", &PlaceSearch::by_chats},
    };
    const auto* const way =
        std::ranges::find(kWays, by, [](const auto& each) { return each.first; });
    only_.clear();
    if (way != std::end(kWays)) {
      return (this->*way->second)(place);
    }
    // Rows of "paths" name folders, those of "names" the last part of one.
    assert(by.empty() || by == "paths" || by == "names");
    for (const std::string& project : by.empty() ? std::vector<std::string>() : projects_) {
      only_.emplace_back(by == "paths" ? project : base_name(project));
    }
    return all_or_none(true);
  }

  /// The records say in which folder they were made; those that don't are of other projects.
  Result<IsOurs> by_records(const Place& /*place*/) { return made_here(false); }

  /// Each session has a folder, in which some file says where it was made.
  Result<IsOurs> by_folder(const Place& /*place*/) {
    return IsOurs([this](const std::string& path) {
      const std::string folder = std::filesystem::path(path).parent_path().string();
      std::string made_in = folder_of_records(path);
      if (const auto names = names_in(folder); names && made_in.empty()) {
        for (auto name = names->begin(); name != names->end() && made_in.empty(); ++name) {
          made_in = folder_of_records(fmt::format("{}/{}", folder, *name));
        }
      }
      return is_here(made_in);
    });
  }

  /// The folder's name is made of the project's path.
  Result<IsOurs> by_slug(const Place& place) {
    const std::string_view name = base_name(place.folder);
    bool is_exact = false;
    bool may_be = false;
    for (const std::string& project : projects_) {
      const std::string slug = claude_slug(project);
      const std::string_view own = name.starts_with('-') ? slug : std::string_view(slug).substr(1);
      is_exact = is_exact || own == name;
      // Folders in the project have longer names; what is not in it is told by the records.
      may_be = may_be || name.starts_with(own.substr(0, kSlugSizeMax));
    }
    return may_be ? made_here(is_exact) : all_or_none(false);
  }

  /// Gemini CLI calls a project by its hash, or by a short name that is noted in the folder itself
  /// and in projects.json.
  Result<IsOurs> by_short_name(const Place& place) {
    const std::string_view name = base_name(place.folder);
    const std::string noted = beginning_of(place.folder + "/.project_root");
    const ParsedJson projects(beginning_of(
        (std::filesystem::path(place.folder).parent_path().parent_path() / "projects.json")
            .string()));
    return all_or_none(is_project(stripped(noted)) ||
                       std::ranges::any_of(projects_, [&](const std::string& project) {
                         return name == sha256_hex(project) ||
                                projects["projects"][project].string() == name;
                       }));
  }

  /// The folder has a workspace.json: {"folder":"file:///home/ann/night%20boats"}. The database of
  /// a workspace says which of the chats in the common one are its.
  Result<IsOurs> by_workspace(const Place& place) {
    constexpr std::string_view kScheme = "file://";
    const ParsedJson workspace(beginning_of(place.folder + "/workspace.json"));
    const std::string_view folder = workspace["folder"].string();
    const bool is_ours =
        folder.starts_with(kScheme) && is_project(percent_decoded(folder.substr(kScheme.size())));
    if (is_ours && is_database(beginning_of(place.path))) {
      BMAD_TRY(add_chats(
          place.path, "ItemTable",
          "SELECT chat.value ->> 'composerId' AS id, ?1 AS folder FROM (SELECT CAST(value AS TEXT) "
          "AS data FROM ItemTable WHERE key = 'composer.composerData'), "
          "json_each(iif(json_valid(data), data, '{}'), '$.allComposers') AS chat "
          "WHERE chat.type = 'object'"));
    }
    return all_or_none(is_ours);
  }

  /// One database has the chats of all workspaces: those that by_workspace() has found, and those
  /// whose header names the project.
  Result<IsOurs> by_chats(const Place& place) {
    BMAD_TRY(add_chats(place.path, "composerHeaders",
                       "SELECT composerId AS id, iif(json_valid(data), data, '{}') ->> "
                       "'$.workspaceIdentifier.uri.fsPath' AS folder FROM (SELECT composerId, "
                       "CAST(value AS TEXT) AS data FROM composerHeaders)"));
    only_ = chats_;
    return all_ || !chats_.empty() ? all_or_none(true) : IsOurs();
  }

  /// Adds the chats of the project: the `id` of each row of `sql` whose `folder` is in it. ?1 in
  /// it is the project's folder. Errors: as Database.
  Status add_chats(const std::string& path, std::string_view table, const char* sql) {
    BMAD_TRY_ASSIGN(const Database database, Database::open(path));
    BMAD_TRY_ASSIGN(const bool is_there, database.has_table(table));
    return !is_there ? Status()
                     : database.rows(sql, {projects_.front()}, [&](JsonValue row, std::uint64_t) {
                         if (is_here(row["folder"].string())) {
                           chats_.emplace_back(row["id"].string());
                         }
                         return Status();
                       });
  }

  [[nodiscard]] bool is_project(std::string_view folder) const {
    return is_among(projects_, folder);
  }
  [[nodiscard]] bool is_here(std::string_view folder) const {
    return !folder.empty() && std::ranges::any_of(projects_, [&](const std::string& project) {
      return lies_in(folder, project);
    });
  }

  static IsOurs all_or_none(bool all) {
    return [all](const std::string& /*file*/) { return all; };
  }
  /// Files whose records were made in the project; those that name no folder only with
  /// `also_unnamed`.
  IsOurs made_here(bool also_unnamed) const {
    return [this, also_unnamed](const std::string& file) {
      const std::string made_in = folder_of_records(file);
      return (made_in.empty() && also_unnamed) || is_here(made_in);
    };
  }

  /// Files at or below `path`: those that `is_ours` says so of, or all.
  Status add(const std::string& path, ImportFormat format, const IsOurs& is_ours) {
    BMAD_TRY_ASSIGN(FoundImports found,
                    is_ours ? find_import_files({path}, format) : FoundImports());
    found_.beside += found.beside;
    for (ImportFile& file : found.files) {
      if (all_ || is_ours(file.path)) {
        file.format = format;
        file.only = all_ ? std::vector<std::string>() : only_;
        found_.files.push_back(std::move(file));
      } else {
        ++found_.of_other_projects;
      }
    }
    return {};
  }

  std::vector<std::string> projects_;  ///< As they are named, then as they are without links.
  bool all_;
  std::set<std::string> seen_;
  std::vector<std::string> chats_;  ///< Of the project, in databases that have those of all.
  std::vector<std::string> only_;   ///< ImportFile::only, at the place in question.
  FoundImports found_;
};

}  // namespace

std::string claude_slug(std::string_view project) {
  std::string slug(project);
  std::ranges::replace_if(slug, [](char c) { return !is_alnum(c); }, '-');
  return slug;
}

std::string cline_sessions() {
  return with_home(pattern_of(find_import_format("cline")->places.front()));
}

std::string usual_place(ImportFormat format) {
  std::string all;
  for (const ImportPlace& place : format->places) {
    std::vector<Place> places;
    static_cast<void>(append_matches(pattern_of(place), 0, {}, places));
    for (const Place& each : places) {
      const std::string_view folder = each.folder;
      const std::string_view path =
          folder.empty() ? each.path : folder.substr(0, folder.rfind('/'));
      append_part(all, all.contains(path) ? "" : path, ", ");
    }
  }
  return !all.empty() || format->places.empty() ? all : pattern_of(format->places.front());
}

Result<FoundImports> find_usual_places(ImportFormat format, const std::string& project,
                                       const std::vector<std::string>& worktrees,
                                       bool all_projects) {
  PlaceSearch search(project, worktrees, all_projects);
  bool is_there = false;
  for (const ImportPlace& place : format->places) {
    BMAD_TRY_ASSIGN(const bool found, search.search(place, format));
    is_there = is_there || found;
  }
  if (!is_there) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = fmt::format("found nothing here of: {}; name the files to import",
                                        format->title),
                 .path = usual_place(format)};
  }
  return search.take();
}

}  // namespace bmad_mem::cli
