#include "exchange/import/import_files.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/text.hpp"
#include "exchange/export/export_lines.hpp"
#include "exchange/file_lines.hpp"
#include "exchange/import/document_elements.hpp"
#include "exchange/import/json_repair.hpp"
#include "exchange/import/notes.hpp"
#include "exchange/import/own_entries.hpp"
#include "exchange/import/own_export.hpp"

namespace bmad_mem::cli {
namespace {

/// What a session's folder holds beside its logs.
constexpr std::array<std::string_view, 3> kNoLogs = {"audit.jsonl", "quarantine.jsonl",
                                                     "access.jsonl"};

/// Whether a file of this name can be of this format.
bool has_name_of(ImportFormat format, std::string_view name) {
  switch (format) {
    case ImportFormat::kBasicMemory:
      return name.ends_with(".md");
    case ImportFormat::kMem0:
      return name.ends_with(".json");
    case ImportFormat::kChatgpt:
      return name.starts_with("conversations") && name.ends_with(".json");
    case ImportFormat::kGemini:
      return name.ends_with(".json") || name.ends_with(".jsonl");
    default:
      return name.ends_with(".jsonl") && std::ranges::find(kNoLogs, name) == kNoLogs.end();
  }
}

Status find_below(const std::string& folder, ImportFormat format, std::vector<ImportFile>& files) {
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
      } else if (S_ISREG(status.st_mode) && has_name_of(format, name)) {
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

using OnRead = std::function<void(std::uint64_t)>;

/// A file with a record a line.
Status import_records(FileLines& lines, ImportSink& sink, const OnRead& on_read,
                      RecordImporter& importer) {
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
    } else if (const auto value = parser.parse(line, true); value && value->is_object()) {
      BMAD_TRY(importer.take(*value, parser.text(), line.number));
    } else if (!is_blank(line.text)) {
      sink.skip("unreadable lines");
    }
  }
}

/// A file that is one document.
Status import_document(FileLines& file, ImportFormat format, ImportSink& sink,
                       const OnRead& on_read, RecordImporter& importer) {
  DocumentElements elements(file, records_member(format));
  LineParser parser;
  DocumentElement element;
  while (true) {
    BMAD_TRY_ASSIGN(const bool more, elements.next(element));
    if (!more) {
      if (elements.was_cut()) {
        sink.skip("ends of files that are missing");
      }
      return importer.finish();
    }
    on_read(file.bytes_read());
    const auto value = parser.parse({.text = element.text}, true);
    if (element.too_long) {
      sink.skip("elements over 32 MiB");
    } else if (!value) {
      sink.skip("unreadable elements");
    } else if (!element.key.empty()) {
      BMAD_TRY(importer.take_member(element.key, *value));
    } else {
      BMAD_TRY(importer.take(*value, parser.text(), element.number));
    }
  }
}

Status import_note_file(const ImportFile& file, const ImportOptions& options, FileLines& lines,
                        ImportSink& sink) {
  std::string text;
  while (true) {
    BMAD_TRY_ASSIGN(const std::string_view chunk, lines.chunk());
    if (chunk.empty()) {
      break;
    }
    text += chunk;
    if (text.size() > FileLines::kLineSizeMax) {
      sink.skip("notes over 1 MiB");
      return {};
    }
  }
  struct stat status{};
  const bool has_time = file.path != "-" && ::stat(file.path.c_str(), &status) == 0;
  const Timestamp changed_at =
      has_time ? Timestamp(std::chrono::milliseconds(std::int64_t{status.st_mtime} * 1000))
               : Timestamp();
  return import_note(sink, shown_name(file), text, options.session_id, options.project, changed_at);
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
                      ImportSink& sink, const OnRead& on_read) {
  const std::string name = shown_name(file);
  OwnEntriesImport importer(sink, name, options.session_id, options.fallback_session);
  return import_lines(name, lines, sink, on_read, importer);
}

Status import_export(const ImportFile& file, const ImportOptions& options, MemoryManager* memory,
                     FileLines& lines, ImportSink& sink, const OnRead& on_read) {
  const std::string name = shown_name(file);
  BMAD_TRY(sink.flush());
  OwnExportImport importer(sink, memory, name, options.session_id);
  BMAD_TRY(import_lines(name, lines, sink, on_read, importer));
  return importer.finish();
}

}  // namespace

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

Result<std::vector<ImportFile>> find_import_files(const std::vector<std::string>& paths,
                                                  ImportFormat format) {
  std::vector<ImportFile> files;
  for (const std::string& path : paths) {
    struct stat status{};
    if (path == "-") {
      files.push_back({.path = path});
    } else if (::stat(path.c_str(), &status) != 0) {
      return io_error("import it", path);
    } else if (S_ISDIR(status.st_mode)) {
      const std::size_t before = files.size();
      BMAD_TRY(find_below(path, format, files));
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
  BMAD_TRY_ASSIGN(const std::string_view beginning, lines.beginning());
  ImportFormat format = file.format == ImportFormat::kAuto ? options.format : file.format;
  if (format == ImportFormat::kAuto) {
    format = recognise_import(file.path, beginning);
  } else if (format == ImportFormat::kJsonl) {
    format = looks_like_export(beginning) ? ImportFormat::kOwnExport : ImportFormat::kEntries;
  }
  if (format == ImportFormat::kOwnExport) {
    return import_export(file, options, memory, lines, sink, on_read);
  }
  if (format == ImportFormat::kEntries) {
    return import_entries(file, options, lines, sink, on_read);
  }
  if (format == ImportFormat::kBasicMemory) {
    return import_note_file(file, options, lines, sink);
  }
  const auto importer = make_record_importer(format, sink, shown_name(file), options);
  return is_one_document(format, beginning)
             ? import_document(lines, format, sink, on_read, *importer)
             : import_records(lines, sink, on_read, *importer);
}

}  // namespace bmad_mem::cli
