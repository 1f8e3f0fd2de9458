// import_files.cpp - recognises the format of a file, and imports its records.
#include "exchange/import/import_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "exchange/file_lines.hpp"
#include "exchange/import/database.hpp"
#include "exchange/import/document_elements.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

/// What a packed file has behind its name: it is imported as the same file.
constexpr std::string_view kPackedEnd = ".zst";

/// The time of the first record that has one; the end of all time without.
Timestamp first_time(const ImportFile& file) {
  Result<FileLines> lines =  // A pipe can be read once, and has no size.
      file.size == 0 ? Result<FileLines>(Error{}) : FileLines::open(file.path, file.member);
  const Result<std::string_view> text = lines ? lines->beginning() : Error{};
  JsonParser parser;
  for (std::string_view rest = text.value_or(""); !rest.empty();) {
    const JsonValue record = parser.parse(take_line(rest)).value_or(JsonValue());
    const char* const name = record["timestamp"].present() ? "timestamp" : "startTime";
    if (const auto time = try_parse_rfc3339(record[name].string())) {
      return *time;
    }
  }
  return Timestamp::max();
}

/// When the file was made, in nanoseconds since 1970; where the file system does not know it, when
/// it was changed last; else 0.
std::int64_t born_at(const std::string& path) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  struct statx about{};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BTIME | STATX_MTIME, &about) != 0) {
    return 0;
  }
  const auto& at = (about.stx_mask & STATX_BTIME) != 0 ? about.stx_btime : about.stx_mtime;
  return at.tv_sec * kNanoseconds + at.tv_nsec;
}

Error unknown_format(const std::string& file) {
  return {.code = ErrorCode::E_INVALID_FORMAT,
          .message =
              fmt::format("the format of the file is unknown; known are {}", import_names(false)),
          .path = file};
}

/// A line with its strings cut to what a message keeps; for lines that images make long. Cuts at
/// whole characters, before an escape.
std::string with_short_strings(std::string_view line) {
  static constexpr std::size_t kStringMax = kMessageSizeMax + 4096;
  std::string out;
  bool in_string = false;
  std::size_t begin = 0;  // Of the string.
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool is_escape = in_string && c == '\\' && i + 1 < line.size();
    const std::size_t size = is_escape ? 2 : 1;
    if (c == '"') {
      in_string = !in_string;
      begin = i;
    } else if (in_string && i - begin > kStringMax && !is_continuation(c)) {
      // A cut at a byte that continues a character, or in \uXXXX, would not parse.
      while (i < line.size() && line[i] != '"') {
        i += line[i] == '\\' ? 2 : 1;
      }
      in_string = false;
      out += '"';
      continue;
    }
    out += line.substr(i, size);
    i += size - 1;
  }
  return out;
}

/// Reads a file for one importer.
class FileImport {
 public:
  FileImport(FileLines& lines, const ImportContext& context, const ImportReader& reader,
             const std::function<void(std::uint64_t)>& on_read)
      : lines_(lines),
        sink_(context.sink),
        file_(context.file),
        reader_(reader),
        on_read_(on_read),
        importer_(reader.make(context)) {
    assert(importer_ != nullptr);
    if (!reader.is_ours) {
      lines.allow_lines_of(FileLines::kForeignLineSizeMax);
    }
  }

  /// A record a line.
  Status lines() {
    FileLine line;
    while (true) {
      BMAD_TRY_ASSIGN(const bool more, lines_.next(line));
      if (!more) {
        return importer_->finish();
      }
      on_read_(lines_.bytes_read());
      if (line.too_long) {
        leave_out(line, "lines over 32 MiB");
        continue;
      }
      if (reader_.is_text) {
        BMAD_TRY(importer_->take({}, utf8_repaired(line.text), line.number));
        continue;
      }
      if (line.text.size() > FileLines::kLineSizeMax) {
        short_ = with_short_strings(line.text);
        short_.append(kJsonPadding, '\0');
        line.text = std::string_view(short_).substr(0, short_.size() - kJsonPadding);
      }
      const auto value = parse(line.text);
      if (value && (value->is_object() || reader_.is_ours)) {
        BMAD_TRY(importer_->take(*value, text_, line.number));
      } else if (!is_blank(line.text)) {
        BMAD_TRY(take_whole_records(line));
      }
    }
  }

  /// One document.
  Status document() {
    DocumentElements elements(lines_, reader_.records_member);
    DocumentElement element;
    while (true) {
      BMAD_TRY_ASSIGN(const bool more, elements.next(element));
      if (!more) {
        if (elements.was_cut()) {
          leave_out_element(element.line, "ends of files that are missing",
                            {.code = ErrorCode::E_INVALID_FORMAT,
                             .message = "the end of the document is missing"});
        }
        return importer_->finish();
      }
      on_read_(lines_.bytes_read());
      const auto value = parse(element.text);
      if (element.too_long) {
        leave_out_element(element.line, "elements over 32 MiB",
                          {.code = ErrorCode::E_SIZE_LIMIT,
                           .message = "the session is larger than 32 MiB; import an export in "
                                      "JSONL (export --format jsonl)"});
      } else if (!value) {
        leave_out_element(element.line, "unreadable elements", json_problem(element.text));
      } else if (!element.key.empty()) {
        BMAD_TRY(importer_->take_member(element.key, *value, text_));
      } else {
        BMAD_TRY(importer_->take(*value, text_, reader_.is_ours ? element.line : element.number));
      }
    }
  }

 private:
  /// Sets text_ to what the value was parsed from: what is refused, and not ours, gets a second
  /// chance.
  std::optional<JsonValue> parse(std::string_view padded) {
    text_ = padded;
    std::optional<JsonValue> value = parser_.try_parse_padded(padded);
    if (!value && !reader_.is_ours) {
      repaired_ = repaired_json(padded);
      text_ = repaired_;
      if (const Result<JsonValue> again = parser_.parse(repaired_)) {
        value = *again;
      }
    }
    return value;
  }

  /// The records of a line that lacks a line break: all when they fill it, else the last one, as
  /// what ends in front of it was cut by a program that was killed.
  Status take_whole_records(const FileLine& line) {
    std::vector<std::string_view> records;
    std::string_view rest = trimmed(line.text);
    while (!reader_.is_ours && !rest.empty() && records.size() < kRecordsMax) {
      const std::size_t begin = last_object(rest);
      if (begin == std::string_view::npos || (begin == 0 && records.empty())) {
        break;
      }
      // A value in a record whose end is missing is no record.
      if (begin != 0 && std::string_view(":,[").contains(trimmed(rest.substr(0, begin)).back())) {
        break;
      }
      records.push_back(rest.substr(begin));
      rest = trimmed(rest.substr(0, begin));
    }
    if (!rest.empty() || records.empty()) {
      leave_out(line, "unreadable lines");
      records.resize(std::min<std::size_t>(records.size(), 1));
    }
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
      // A line of its own: what reads JSON looks at the bytes behind it.
      std::string text(*record);
      text.append(kJsonPadding, '\0');
      if (const auto value = parse(std::string_view(text).substr(0, record->size()))) {
        BMAD_TRY(importer_->take(*value, text_, line.number));
      } else {
        leave_out(line, "unreadable lines");
      }
    }
    sink_.skip("missing line breaks", records.size() - std::min<std::size_t>(records.size(), 1));
    return {};
  }

  static constexpr std::size_t kRecordsMax = 1000;  ///< In a line.

  /// A line of our own is refused, one of somebody else's counted.
  void leave_out(const FileLine& line, std::string_view reason) {
    if (!reader_.is_ours) {
      return sink_.skip(reason);
    }
    sink_.refuse(line.too_long ? Error{.code = ErrorCode::E_SIZE_LIMIT,
                                       .message = "the line is longer than 1 MiB"}
                               : json_problem(line.text),
                 {.file = file_, .line = line.number});
  }
  void leave_out_element(std::uint64_t line, std::string_view reason, Error problem) {
    if (!reader_.is_ours) {
      return sink_.skip(reason);
    }
    problem.column = 0;  // It counts in the element.
    sink_.refuse(std::move(problem), {.file = file_, .line = line});
  }

  FileLines& lines_;
  ImportSink& sink_;
  const std::string& file_;
  const ImportReader& reader_;
  const std::function<void(std::uint64_t)>& on_read_;
  std::unique_ptr<RecordImporter> importer_;
  JsonParser parser_;
  std::string repaired_;
  std::string_view text_;
  std::string short_;  ///< A long line, cut.
};

Status import_note_file(const ImportFile& file, ImportFormat format, const ImportContext& context,
                        FileLines& lines) {
  std::string text;
  while (true) {
    BMAD_TRY_ASSIGN(const std::string_view chunk, lines.chunk());
    if (chunk.empty()) {
      break;
    }
    text += chunk;
    if (text.size() > FileLines::kLineSizeMax) {
      context.sink.skip("notes over 1 MiB");
      return {};
    }
  }
  struct stat status{};
  const bool has_time = file.path != "-" && ::stat(file.path.c_str(), &status) == 0;
  const std::chrono::seconds changed_at(has_time ? status.st_mtime : 0);
  const bool is_codex = format->name == "codex-memories";
  if (is_codex || format->name == "markdown" ||
      (format->name == "auto" && has_only_headings(text))) {
    return import_sections(context, is_codex ? "codex-memories" : "markdown", text,
                           Timestamp(changed_at));
  }
  return import_note(context, text, Timestamp(changed_at));
}

Status import_database(const ImportFile& file, ImportFormat format, const ImportContext& context) {
  if (file.path == "-") {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "a database cannot be read from stdin; name its file",
                 .path = context.file};
  }
  BMAD_TRY_ASSIGN(const Database database, Database::open(file.path));
  BMAD_TRY_ASSIGN(const ImportRow* const row, database_row(format, database));
  assert(row == nullptr || row->read_database != nullptr);
  return row != nullptr ? row->read_database(context, database)
                        : Status(unknown_format(context.file));
}

}  // namespace

void order_by_first_record(std::vector<ImportFile>& files) {
  // A fork may begin with the very records of its original.
  using Begin = std::pair<Timestamp, std::int64_t>;
  std::vector<std::pair<Begin, ImportFile>> timed;
  for (ImportFile& file : files) {
    const Begin begin(first_time(file), born_at(file.path));
    timed.emplace_back(begin, std::move(file));
  }
  std::ranges::stable_sort(timed, {}, &std::pair<Begin, ImportFile>::first);
  std::ranges::transform(timed, files.begin(), [](auto& each) { return std::move(each.second); });
}

Status import_file(const ImportFile& file, const ImportOptions& options, ImportSink& sink,
                   const std::function<void(std::uint64_t)>& on_read) {
  BMAD_TRY_ASSIGN(FileLines lines, FileLines::open(file.path, file.member));
  ++sink.report().files;
  const ImportFormat format = file.format == nullptr ? options.format : file.format;
  assert(format != nullptr);
  BMAD_TRY_ASSIGN(const std::string_view beginning, recognisable(lines, format));
  std::string_view path = file.path == "-" ? "<stdin>" : std::string_view(file.path);
  path.remove_suffix(path.ends_with(kPackedEnd) ? kPackedEnd.size() : 0);
  const ImportContext context = {
      options, sink,
      file.member ? fmt::format("{}/{}", path, file.member->name) : std::string(path), file.only};
  if (is_database(beginning)) {
    return import_database(file, format, context);
  }
  if (is_zip(beginning) && !file.member && file.path != "-") {
    BMAD_TRY(zip_members(file.path));  // It says why it was not opened.
  }
  const ImportRow* const row = known_row(format, file.path, beginning);
  if (row == nullptr) {
    return unknown_format(context.file);
  }
  if (row->make == nullptr) {
    return import_note_file(file, format, context, lines);
  }
  if (row->read_database != nullptr) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "is no database of SQLite",
                 .path = context.file};
  }
  if (row->name == "export") {
    BMAD_TRY(sink.flush());  // It asks what is there.
  }
  FileImport reader(lines, context, *row, on_read);
  BMAD_TRY(row->is_document != nullptr && row->is_document(beginning) ? reader.document()
                                                                      : reader.lines());
  ImportTally& tally = sink.tally();
  tally.name = file.name;
  // What says nothing of its session may go to another one the next time.
  tally.is_odd = tally.is_odd || row->is_ours || tally.sessions.contains(options.fallback_session);
  tally.state = file.state;
  return {};
}

}  // namespace bmad_mem::cli
