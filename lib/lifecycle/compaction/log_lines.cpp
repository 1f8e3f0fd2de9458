// log_lines.cpp - reads lines of logs by their places, and takes them out of the logs.
#include "lifecycle/log_lines.hpp"

#include <algorithm>
#include <cassert>

#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "store/append_log.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

/// Calls `use(path, lines)` for the lines of each log that has any.
template <typename Use>
Status for_each_log(const std::string& session_id, std::span<const LogLine> lines, const Use& use) {
  while (!lines.empty()) {
    const EntryType type = lines.front().type;
    const auto end = std::ranges::find_if(lines, [&](const LogLine& l) { return l.type != type; });
    const auto count = static_cast<std::size_t>(end - lines.begin());
    BMAD_TRY(use(log_path(session_id, type), lines.first(count)));
    lines = lines.subspan(count);
  }
  return {};
}

}  // namespace

LogLine log_line(const ScannedEntry& entry) {
  assert(entry.line > 0 && entry.line_size > entry.text.size() && "a line ends in a newline");
  return {.type = entry.type,
          .id = std::string(entry_id(entry.value)),
          .line = entry.line,
          .offset = entry.offset,
          .size = entry.line_size};
}

Result<std::vector<std::string>> read_lines(FileSystem& files, const std::string& session_id,
                                            const std::vector<LogLine>& lines) {
  std::vector<std::string> texts;
  texts.reserve(lines.size());
  const auto read = [&](const std::string& path, std::span<const LogLine> of_log) -> Status {
    BMAD_TRY_ASSIGN(const std::unique_ptr<File> log, files.open(path, OpenMode::kRead));
    for (const LogLine& line : of_log) {
      std::string text(line.size, '\0');
      BMAD_TRY_ASSIGN(const std::size_t got, log->read_at(line.offset, text));
      text.resize(got);
      texts.emplace_back(without_line_end(text));
      if (texts.back().contains('\n')) {
        return path_error(ErrorCode::E_CONCURRENT_MOD, files.display_path(path),
                          "another program changed the log while it was read; try again");
      }
    }
    return {};
  };
  BMAD_TRY(for_each_log(session_id, lines, read));
  assert(texts.size() == lines.size());
  return texts;
}

RemovedEntry removed_entry(const std::string& session_id, const LogLine& line, std::string reason,
                           std::string_view text, JsonParser& parser) {
  RemovedEntry removed{.session_id = session_id,
                       .type = line.type,
                       .id = line.id,
                       .line = line.line,
                       .bytes = line.size,
                       .reason = std::move(reason)};
  if (!text.empty()) {
    const Result<JsonValue> value = parser.parse(text);
    removed.headline = value ? entry_headline(line.type, *value) : std::string();
  }
  return removed;
}

Status take_out_lines(FileSystem& files, const std::string& session_id,
                      const std::vector<LogLine>& lines, FullDisk full_disk,
                      std::string_view events_instead) {
  assert(events_instead.empty() || full_disk == FullDisk::kFails);
  assert(events_instead.empty() || events_instead.ends_with('\n'));
  assert(std::ranges::is_sorted(
      lines, {}, [](const LogLine& line) { return std::pair(line.type, line.offset); }));
  const auto rewrite = [&](const std::string& path, std::span<const LogLine> of_log) -> Status {
    const std::vector<ByteRange> gaps = mapped(of_log, [](const LogLine& line) {
      return ByteRange{.begin = line.offset, .end = line.offset + line.size};
    });
    const bool is_events = of_log.front().type == EntryType::kEvent;
    return full_disk == FullDisk::kBlanks
               ? remove_lines(files, path, gaps)
               : rewrite_log_without(files, path, gaps, is_events ? events_instead : "");
  };
  return for_each_log(session_id, lines, rewrite);
}

Result<LogMarks> look_at_logs(FileSystem& files, std::string_view session_id) {
  LogMarks logs;
  for (const EntryType type : kEntryTypes) {
    BMAD_TRY_ASSIGN(logs[static_cast<std::size_t>(type)],
                    if_there(files.info(log_path(session_id, type))));
  }
  return logs;
}

Result<bool> still_holds(FileSystem& files, std::string_view session_id, const LogMarks& logs) {
  BMAD_TRY_ASSIGN(const LogMarks present, look_at_logs(files, session_id));
  return std::ranges::equal(present, logs, [](const auto& now, const auto& then) {
    return now.has_value() == then.has_value() && (!now || now->is_unchanged(*then));
  });
}

}  // namespace bmad_mem
