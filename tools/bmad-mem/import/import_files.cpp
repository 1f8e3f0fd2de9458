#include "import/import_files.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "export/export_lines.hpp"
#include "import/claude_code.hpp"
#include "import/file_lines.hpp"
#include "import/json_repair.hpp"
#include "import/own_entries.hpp"
#include "import/own_export.hpp"

namespace bmad_mem::cli {
namespace {

/// What a session's folder holds beside its logs.
constexpr std::array<std::string_view, 3> kNoLogs = {"audit.jsonl", "quarantine.jsonl",
                                                     "access.jsonl"};

Error io_error(std::string_view what, const std::string& path) {
  const int error = errno;
  return {.code = ErrorCode::E_STORAGE_IO,
          .message = fmt::format("cannot {}: {}", what, std::strerror(error)),
          .path = path,
          .os_error = error};
}

/// The names in a folder, sorted.
Result<std::vector<std::string>> names_in(const std::string& folder) {
  const auto close = [](DIR* directory) { static_cast<void>(::closedir(directory)); };
  const std::unique_ptr<DIR, decltype(close)> directory(::opendir(folder.c_str()), close);
  if (directory == nullptr) {
    return io_error("list the folder", folder);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

Status find_below(const std::string& folder, std::vector<ImportFile>& files) {
  // A stack instead of recursion: folders can be nested as deep as somebody likes.
  std::vector<std::string> folders = {folder};
  while (!folders.empty()) {
    const std::string at = std::move(folders.back());
    folders.pop_back();
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, names_in(at));
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}{}{}", at, at.ends_with('/') ? "" : "/", name);
      struct stat status{};
      if (::lstat(path.c_str(), &status) != 0) {
        continue;  // Gone in the meantime.
      }
      if (S_ISDIR(status.st_mode)) {
        folders.push_back(path);
      } else if (S_ISREG(status.st_mode) && name.ends_with(".jsonl") &&
                 std::ranges::find(kNoLogs, name) == kNoLogs.end()) {
        files.push_back({.path = path, .size = static_cast<std::uint64_t>(status.st_size)});
      }
    }
  }
  return {};
}

/// Reads JSON values from lines; what is refused gets a second chance.
class LineParser {
 public:
  std::optional<JsonValue> parse(const FileLine& line, bool repairs) {
    text_ = line.text;
    if (const auto value = parser_.try_parse_padded(line.text)) {
      return value;
    }
    if (repairs) {
      repaired_ = repaired_json(line.text);
      text_ = repaired_;
      if (const Result<JsonValue> value = parser_.parse(repaired_)) {
        return *value;
      }
    }
    return std::nullopt;
  }
  /// What the last value was parsed from.
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  JsonParser parser_;
  std::string repaired_;
  std::string_view text_;
};

std::string shown_name(const ImportFile& file) { return file.path == "-" ? "<stdin>" : file.path; }

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

Status import_claude_code(const ImportFile& file, const ImportOptions& options, FileLines& lines,
                          ImportSink& sink, const std::function<void(std::uint64_t)>& on_read) {
  ClaudeCodeImport importer(sink, shown_name(file), options.session_id);
  LineParser parser;
  FileLine line;
  while (true) {
    BMAD_TRY_ASSIGN(const bool more, lines.next(line));
    if (!more) {
      return importer.finish();
    }
    on_read(lines.bytes_read());
    if (line.too_long) {
      sink.skip("lines over 1 MiB");
    } else if (const auto value = parser.parse(line, true)) {
      BMAD_TRY(importer.take(*value, parser.text(), line.number));
    } else if (!is_blank(line.text)) {
      sink.skip("unreadable lines");
    }
  }
}

/// Gives each line that is JSON to `importer`, and refuses the others.
template <typename Importer>
Status import_lines(const std::string& name, FileLines& lines, ImportSink& sink,
                    const std::function<void(std::uint64_t)>& on_read, Importer& importer) {
  LineParser parser;
  FileLine line;
  while (true) {
    BMAD_TRY_ASSIGN(const bool more, lines.next(line));
    if (!more) {
      return {};
    }
    on_read(lines.bytes_read());
    const ImportOrigin origin{.file = name, .line = line.number};
    if (line.too_long) {
      sink.refuse({.code = ErrorCode::E_SIZE_LIMIT, .message = "the line is longer than 1 MiB"},
                  origin);
    } else if (const auto value = parser.parse(line, false)) {
      BMAD_TRY(importer.take(line.text, *value, line.number));
    } else if (!is_blank(line.text)) {
      sink.refuse(json_problem(line.text), origin);
    }
  }
}

Status import_entries(const ImportFile& file, const ImportOptions& options, FileLines& lines,
                      ImportSink& sink, const std::function<void(std::uint64_t)>& on_read) {
  const std::string name = shown_name(file);
  OwnEntriesImport importer(sink, name, options.session_id, options.fallback_session);
  return import_lines(name, lines, sink, on_read, importer);
}

Status import_export(const ImportFile& file, const ImportOptions& options, MemoryManager* memory,
                     FileLines& lines, ImportSink& sink,
                     const std::function<void(std::uint64_t)>& on_read) {
  const std::string name = shown_name(file);
  BMAD_TRY(sink.flush());
  OwnExportImport importer(sink, memory, name, options.session_id);
  BMAD_TRY(import_lines(name, lines, sink, on_read, importer));
  return importer.finish();
}

ImportFormat format_of(std::string_view beginning) {
  if (looks_like_export(beginning)) {
    return ImportFormat::kOwnExport;
  }
  return looks_like_claude_code(beginning) ? ImportFormat::kClaudeCode : ImportFormat::kEntries;
}

}  // namespace

Result<std::vector<ImportFile>> find_import_files(const std::vector<std::string>& paths) {
  std::vector<ImportFile> files;
  for (const std::string& path : paths) {
    struct stat status{};
    if (path == "-") {
      files.push_back({.path = path});
    } else if (::stat(path.c_str(), &status) != 0) {
      return io_error("import it", path);
    } else if (S_ISDIR(status.st_mode)) {
      const std::size_t before = files.size();
      BMAD_TRY(find_below(path, files));
      std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end(),
                [](const ImportFile& a, const ImportFile& b) { return a.path < b.path; });
    } else {
      files.push_back({.path = path, .size = static_cast<std::uint64_t>(status.st_size)});
    }
  }
  return files;
}

Status import_file(const ImportFile& file, const ImportOptions& options, MemoryManager* memory,
                   ImportSink& sink, const std::function<void(std::uint64_t)>& on_read) {
  BMAD_TRY_ASSIGN(FileLines lines, FileLines::open(file.path));
  ++sink.report().files;
  ImportFormat format = options.format;
  if (format == ImportFormat::kAuto) {
    BMAD_TRY_ASSIGN(const std::string_view beginning, lines.beginning());
    format = format_of(beginning);
  }
  if (format == ImportFormat::kOwnExport) {
    return import_export(file, options, memory, lines, sink, on_read);
  }
  return format == ImportFormat::kClaudeCode
             ? import_claude_code(file, options, lines, sink, on_read)
             : import_entries(file, options, lines, sink, on_read);
}

}  // namespace bmad_mem::cli
