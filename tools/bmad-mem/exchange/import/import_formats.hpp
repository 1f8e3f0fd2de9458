// import_formats.hpp - what can be imported: a row for each format, in formats.toml and in the
// transcripts.toml of each client. What --from and --format take, `import --list`, and how a file
// is recognised follow from it. A client's versions may have several forms: rows of one name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::cli {

struct ImportClient;

/// Where programs keep such files: folders or files, in which "*" in a name is any text and
/// "{a,b}" is each of the words. "~" and "$NAME" in front are folders; else it is in the project.
struct ImportPlace {
  std::vector<std::string_view> at;  ///< The first whose variable is set counts.
  std::string_view by;  ///< How it is known which files are the project's: PlaceSearch::search().
  std::string_view as;  ///< The format, where it is another one.
};

struct ImportRow {
  std::string_view name;                 ///< What --from and --format take.
  std::string_view title;                ///< What it is, for people; empty: a further form.
  std::string place = {};                ///< usual_place(), where a row is shown.
  std::vector<ImportPlace> places;       ///< Where --from searches without FILE; empty: nowhere.
  const ImportClient* client = nullptr;  ///< Who reads it; null: Markdown, or told by the file.
  std::vector<std::string_view> files;   ///< Of files in a folder: names, "*" in them is any text.
                                         ///< Those of the further forms are with the first row's.
  std::vector<std::string_view>
      beside;             ///< The same of files there that hold nothing of their own.
  bool is_source = true;  ///< Whether --from takes it, too.

  [[nodiscard]] bool is_listed() const { return !title.empty(); }
};
/// A row; all live as long as the program.
using ImportFormat = const ImportRow*;

/// In the order in which the beginning of a file is tried: records of Qwen and Gemini have the
/// sessionId of Claude Code's.
std::span<const ImportRow> import_rows();

/// The first row of the name; null when there is none.
ImportFormat find_import_format(std::string_view name);

/// "a, b or c": what --from takes, or with `all` what --format takes.
std::string import_names(bool all);

}  // namespace bmad_mem::cli
