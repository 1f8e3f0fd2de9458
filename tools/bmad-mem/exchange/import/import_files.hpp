// import_files.hpp - which files can be imported, where they lie, how they are called, recognised
// and read.
//
//   FILE...   files, folders, zips ─> find_import_files()  ┐
//   --from    usual places         ─> find_usual_places() ┴─> ImportFile ─> import_file()
//
// A file without a format is recognised by its beginning, in a folder and in a zip as well. Nothing
// is unpacked to disk.
//
// What belongs to another project is left out; the rows of the formats say how that is known
// (import_places.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "exchange/file_lines.hpp"
#include "exchange/import/import_formats.hpp"
#include "exchange/import/import_sink.hpp"

namespace bmad_mem::cli {

class Database;

struct ImportOptions {
  ImportFormat format = find_import_format("auto");
  std::string session_id;             ///< Where everything goes; empty: where each entry says.
  std::string fallback_session = {};  ///< Where goes what says nothing; may be empty.
  std::string project;        ///< The name of the project, for what names none; may be empty.
  bool prompts_only = false;  ///< See ImportContext::prompts_only.
  std::string folder = {};    ///< Of the project, whose commands are looked at; may be empty.
};

struct ImportFile {
  std::string path;  ///< "-" is stdin.
  std::uint64_t size = 0;
  std::optional<ZipMember> member = {};  ///< Where it is one of the zip at `path`.
  ImportFormat format = nullptr;         ///< Where it is another one than was asked for.
  std::vector<std::string> only = {};    ///< See ImportContext::only.
  std::string name = {};   ///< Its absolute path, and after a newline the name of the member.
  std::string state = {};  ///< See ImportNotes, which sets both; empty: it is read each time.
};

struct FoundImports {
  std::vector<ImportFile> files;
  std::uint64_t of_other_projects = 0;  ///< Files that were left out.
  std::uint64_t unknown = 0;            ///< Of no known format, in folders and zips.
  std::uint64_t beside = 0;             ///< ImportRow::beside.
  std::map<std::string_view, std::uint64_t> formats = {};  ///< Those recognised there, by name.
};

/// The files themselves, and for a folder or a zip what in it is of this format by its name; with
/// "auto" what is recognised by its beginning. Those of a folder are sorted by path. Links to
/// folders are not followed. Errors: E_STORAGE_IO for what isn't there; those of zip_members().
Result<FoundImports> find_import_files(const std::vector<std::string>& paths, ImportFormat format);

/// The beginning of a file, with a first line that a screenshot makes longer than a chunk. Errors:
/// those of FileLines.
Result<std::string_view> recognisable(FileLines& lines, ImportFormat format);

/// The row of a file that begins like this, of those that the format may be; the format itself for
/// Markdown. Null when it is of no known format.
const ImportRow* known_row(ImportFormat format, std::string_view path, std::string_view beginning);

/// The row that reads a database: one of the format that has the tables which it knows. Null when
/// there is none. Errors: those of Database.
Result<const ImportRow*> database_row(ImportFormat format, const Database& database);

/// Whether the last parts of a path are called so; "*" in a part of the pattern is any text.
bool is_path_like(std::string_view path, std::string_view pattern);

/// Whether `folder` is that of the project, or in it.
bool lies_in(std::string_view folder, std::string_view project);

/// Puts files whose first record with a time is older in front, so that who said something first is
/// read first; the others stay where they are.
void order_by_first_record(std::vector<ImportFile>& files);

/// The names in a folder, sorted. Errors: E_STORAGE_IO.
Result<std::vector<std::string>> names_in(const std::string& folder);

/// Imports one file. `on_read` is called now and then with the bytes read so far. Errors: reading
/// failed, or ImportSink::add() did; what stands before that is imported.
Status import_file(const ImportFile& file, const ImportOptions& options, ImportSink& sink,
                   const std::function<void(std::uint64_t)>& on_read);

/// What lies in the usual places and belongs to the project in folder `project` (absolute) or its
/// `worktrees`, the project's folder in others of its repository; or all of it. Errors:
/// E_STORAGE_IO when there is no such place, naming it.
Result<FoundImports> find_usual_places(ImportFormat format, const std::string& project,
                                       const std::vector<std::string>& worktrees,
                                       bool all_projects);

/// The usual places that are there, for people; the first one where none is.
std::string usual_place(ImportFormat format);

/// Where Cline 3 keeps its sessions: $CLINE_SESSION_DATA_DIR, else "sessions" in $CLINE_DATA_DIR or
/// $CLINE_DIR/data, else in ~/.cline/data: the first of its places.
std::string cline_sessions();

/// What Claude Code calls the folder of a project, up to its 200th character: every other character
/// than a letter or a digit becomes '-'.
std::string claude_slug(std::string_view project);

}  // namespace bmad_mem::cli
