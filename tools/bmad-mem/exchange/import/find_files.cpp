// find_files.cpp - which files of those that are named, and of what is in folders and zips, can be
// imported.
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/text.hpp"
#include "exchange/file_lines.hpp"
#include "exchange/files.hpp"
#include "exchange/import/database.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

namespace fs = std::filesystem;

/// Gathers the files that can be imported.
class FileSearch {
 public:
  explicit FileSearch(ImportFormat format) : format_(format) {}

  /// What is at `path`: a file, a folder, a zip, or stdin.
  Status take(const std::string& path) {
    struct stat status{};
    if (path == "-") {
      found.files.push_back({.path = path});
    } else if (::stat(path.c_str(), &status) != 0) {
      return file_error("import it", path, errno);
    } else if (S_ISDIR(status.st_mode)) {
      const std::size_t before = found.files.size();
      BMAD_TRY(take_folder(path));
      std::ranges::sort(found.files.begin() + static_cast<std::ptrdiff_t>(before),
                        found.files.end(), {}, &ImportFile::path);
    } else {
      const ImportFile file = {.path = path, .size = static_cast<std::uint64_t>(status.st_size)};
      if (!S_ISREG(status.st_mode) || !take_zip(file)) {  // A pipe can be read once.
        found.files.push_back(file);
      }
    }
    return {};
  }

  FoundImports found;

 private:
  /// The members of a zip; false when the file is none.
  bool take_zip(const ImportFile& file) {
    Result<FileLines> lines = FileLines::open(file.path);
    const Result<std::string_view> beginning = lines ? lines->beginning() : std::string_view();
    if (!beginning || !is_zip(*beginning)) {
      return false;  // Whoever reads it says what is wrong.
    }
    const Result<std::vector<ZipMember>> members = zip_members(file.path);
    if (!members) {
      found.files.push_back(file);
      return true;
    }
    for (const ZipMember& member : *members) {
      take_found({.path = file.path, .size = member.size, .member = member}, member.name);
    }
    return true;
  }

  Status take_folder(const std::string& folder) {
    // A stack instead of recursion: folders can be nested as deep as somebody likes.
    std::vector<std::string> folders = {folder};
    while (!folders.empty()) {
      const fs::path at = std::move(folders.back());
      folders.pop_back();
      BMAD_TRY_ASSIGN(const std::vector<std::string> names, names_in(at.string()));
      for (const std::string& name : names) {
        const fs::path path = at / name;
        std::error_code gone;  // In the meantime.
        const fs::file_status status = fs::symlink_status(path, gone);
        if (fs::is_directory(status) && name != ".git" && name != "node_modules") {
          folders.push_back(path.string());
        } else if (fs::is_regular_file(status)) {
          const ImportFile file = {.path = path.string(), .size = fs::file_size(path, gone)};
          if (format_->name != "auto" || !take_zip(file)) {
            take_found(file, file.path);
          }
        }
      }
    }
    return {};
  }

  /// A file of a folder or zip, if its name, or without a format its beginning, is that of one.
  void take_found(ImportFile file, std::string_view path) {
    const auto is_like = [&](std::string_view pattern) { return is_path_like(path, pattern); };
    const bool is_auto = format_->name == "auto";
    const bool has_name = std::ranges::any_of(format_->files, is_like) ||
                          (format_->files.empty() && path.ends_with(".jsonl"));
    if (!is_auto && !has_name) {
      found.beside += std::ranges::any_of(format_->beside, is_like) ? 1 : 0;
      return;
    }
    Result<FileLines> lines = FileLines::open(file.path, file.member);
    const Result<std::string_view> beginning =
        lines && is_auto ? recognisable(*lines, format_) : std::string_view();
    if (lines && beginning && !is_blank(*beginning)) {
      file.format = is_database(*beginning) ? row_of_database(file.path)
                                            : known_row(format_, path, *beginning);
      const bool is_unknown = file.format == nullptr || file.format == format_;  // Or a note.
      const ImportFormat row = find_import_format(is_unknown ? "entries" : file.format->name);
      assert(row != nullptr && "the table has the formats that it names");
      if (std::ranges::any_of(row->beside, is_like)) {
        ++found.beside;
        return;
      }
      if (is_unknown) {
        ++found.unknown;
        return;
      }
      ++found.formats[row->name];
    }
    found.files.push_back(std::move(file));
  }

  [[nodiscard]] const ImportRow* row_of_database(const std::string& path) const {
    const Result<Database> database = Database::open(path);
    return database ? database_row(format_, *database).value_or(nullptr) : nullptr;
  }

  ImportFormat format_;
};

}  // namespace

const ImportRow* known_row(ImportFormat format, std::string_view path, std::string_view beginning) {
  const bool is_auto = format->name == "auto";
  const bool is_ours = format->name == "jsonl";
  for (const ImportRow& row : import_rows()) {
    const bool may_be = row.looks_like != nullptr &&
                        (is_auto || (is_ours ? row.is_ours : row.name == format->name));
    if (may_be && row.looks_like(beginning)) {
      return &row;
    }
  }
  if (is_ours || (is_auto && (is_blank(beginning) || entry_type_of_log_file(base_name(path))))) {
    return find_import_format("entries");
  }
  return !is_auto || path.ends_with(".md") ? format : nullptr;
}

Result<const ImportRow*> database_row(ImportFormat format, const Database& database) {
  for (const ImportRow& row : import_rows()) {
    if (format->name != "auto" && row.name != format->name) {
      continue;
    }
    for (const std::vector<std::string_view>& tables : row.tables) {
      bool has_all = true;
      for (const std::string_view table : tables) {
        BMAD_TRY_ASSIGN(const bool has_table, database.has_table(table));
        has_all = has_all && has_table;
      }
      if (has_all) {
        return &row;
      }
    }
  }
  return static_cast<const ImportRow*>(nullptr);
}

Result<std::string_view> recognisable(FileLines& lines, ImportFormat format) {
  BMAD_TRY_ASSIGN(const std::string_view beginning, lines.beginning());
  const bool is_long = !beginning.contains('\n') && !is_zip(beginning) && !is_database(beginning) &&
                       known_row(format, {}, beginning) == nullptr;
  return is_long ? lines.first_line() : beginning;
}

Result<FoundImports> find_import_files(const std::vector<std::string>& paths, ImportFormat format) {
  FileSearch search(format);
  for (const std::string& path : paths) {
    BMAD_TRY(search.take(path));
  }
  return std::move(search.found);
}

bool is_path_like(std::string_view path, std::string_view pattern) {
  std::string_view front = path;
  for (auto parts = std::ranges::count(pattern, '/'); parts >= 0; --parts) {
    pop_part(front);
  }
  const std::string end(trimmed(path.substr(front.size()), "/"));
  return ::fnmatch(std::string(pattern).c_str(), end.c_str(), FNM_PATHNAME | FNM_NOESCAPE) == 0;
}

bool lies_in(std::string_view folder, std::string_view project) {
  return folder.starts_with(project) && (folder.size() == project.size() ||
                                         project.ends_with('/') || folder[project.size()] == '/');
}

}  // namespace bmad_mem::cli
