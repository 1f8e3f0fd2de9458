// access_log.cpp - notes which entries were returned, reads the notes and folds them.
#include "store/access_log.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "store/atomic_file.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {
namespace {

/// Twice what version 0.1 could make of it.
constexpr std::uint64_t kReadSizeMax = 16U << 20U;

/// More than that is no count: sums stay within what a line may say.
constexpr std::uint64_t kAccessCountMax = 999'999'999'999'999;

/// So long a line takes no more ids: it has to fit into a log that was folded.
constexpr std::size_t kAccessLineSizeMax = 32U << 10U;

/// Of a folded line: so few are lost when one gets damaged.
constexpr std::size_t kIdsInLineMax = 50;

using Row = std::pair<std::string_view, Access>;

bool is_more_recent(const Row& a, const Row& b) {
  return std::tie(b.second.last, b.second.count, a.first) <
         std::tie(a.second.last, a.second.count, b.first);
}

void begin_line(std::string& text, const Access& access) {
  text += fmt::format("{{\"at\":\"{}\",", format_rfc3339(access.last));
  if (access.count != 1) {
    text += fmt::format("\"count\":{},", access.count);
  }
  text += "\"ids\":[";
}

void add_to_line(std::string& text, std::string_view id) {
  append_json_quoted(text, id);
  text += ',';
}

void end_line(std::string& text) {
  assert(text.ends_with(',') && "a line has an id at least");
  text.back() = ']';
  text += "}\n";
}

/// The most recent of `rows` that have room, in lines of those that differ by their ids alone.
std::string folded_text(std::vector<Row>& rows) {
  std::ranges::sort(rows, is_more_recent);
  if (rows.size() > kFoldedAccessesMax) {
    rows.resize(kFoldedAccessesMax);
  }
  std::string text;
  const Access* of_line = nullptr;
  std::size_t in_line = 0;
  for (const auto& [id, access] : rows) {
    constexpr std::size_t kRoomForOne = 2 * kEntryIdSizeMax;
    if (text.size() + kRoomForOne > kFoldedAccessLogSizeMax) {
      break;
    }
    if (of_line == nullptr || in_line == kIdsInLineMax || access.last != of_line->last ||
        access.count != of_line->count) {
      if (of_line != nullptr) {
        end_line(text);
      }
      begin_line(text, access);
      of_line = &access;
      in_line = 0;
    }
    add_to_line(text, id);
    ++in_line;
  }
  if (of_line != nullptr) {
    end_line(text);
  }
  assert(text.size() <= kFoldedAccessLogSizeMax);
  return text;
}

/// Folds the log when it has no room for `size` more bytes; another process may have done it just
/// now. Not while somebody holds the session's lock.
Status make_room(FileSystem& files, const Clock& clock, std::string_view session_id,
                 std::uint64_t size) {
  FileLock lock(files, clock, lock_path(session_id), lock_info_path(session_id));
  BMAD_TRY_ASSIGN(const FileLock::Guard guard,
                  lock.acquire({.operation = "query", .timeout = std::chrono::milliseconds(0)}));
  BMAD_TRY_ASSIGN(const FileInfo info, files.info(access_path(session_id)));
  return info.size + size <= kAccessLogSizeMax
             ? Status()
             : fold_accesses(files, session_id, [](std::string_view) { return true; });
}

/// Takes expected pieces off the front of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool take(std::string_view literal) {
    if (!text_.starts_with(literal)) {
      return false;
    }
    text_.remove_prefix(literal.size());
    return true;
  }

  /// Up to a quote, which goes too. Text with escapes is for the parser.
  bool take_text(std::string_view& out) {
    std::size_t size = 0;
    for (; size < text_.size() && text_[size] != '"'; ++size) {
      if (text_[size] == '\\' || static_cast<unsigned char>(text_[size]) < 0x20) {
        return false;
      }
    }
    if (size == text_.size()) {
      return false;
    }
    out = text_.substr(0, size);
    text_.remove_prefix(size + 1);
    return true;
  }

  bool take_count(std::uint64_t& out) {
    constexpr std::size_t kDigitsMax = 15;  // Sums stay within 64 bits, and within a double.
    const char* const start = text_.data();
    const auto [stop, problem] = std::from_chars(start, start + text_.size(), out);
    const auto size = static_cast<std::size_t>(stop - start);
    if (problem != std::errc() || size > kDigitsMax) {
      return false;
    }
    assert(out <= kAccessCountMax);
    text_.remove_prefix(size);
    return true;
  }

  bool take_time(Timestamp& out) {
    std::string_view text;
    if (!take_text(text)) {
      return false;
    }
    const std::optional<Timestamp> time = try_parse_rfc3339(text);
    out = time.value_or(Timestamp{});
    return time.has_value();
  }

  [[nodiscard]] bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

bool scan_one(Cursor cursor, AccessLine& line) {
  std::string_view id;
  if (!cursor.take_text(id) || !cursor.take(",\"count\":") || !cursor.take_count(line.count) ||
      !cursor.take(",\"last\":\"") || !cursor.take_time(line.last) || !cursor.take("}")) {
    return false;
  }
  line.ids.assign(1, id);
  return cursor.at_end();
}

bool scan_several(Cursor cursor, AccessLine& line) {
  line.ids.clear();
  line.count = 1;
  if (!cursor.take_time(line.last) ||
      (cursor.take(",\"count\":") && !cursor.take_count(line.count)) ||
      !cursor.take(",\"ids\":[")) {
    return false;
  }
  do {
    std::string_view id;
    if (!cursor.take("\"") || !cursor.take_text(id)) {
      return false;
    }
    line.ids.push_back(id);
  } while (cursor.take(","));
  return cursor.take("]}") && cursor.at_end();
}

}  // namespace

/// Fills an AccessTable from the text of a log.
class AccessReader {
 public:
  static AccessTable read(std::string text) {
    AccessReader reader;
    reader.table_.log_size_ = text.size();
    reader.add_lines(reader.table_.texts_.emplace_back(std::move(text)));
    return std::move(reader.table_);
  }

 private:
  void add_lines(std::string_view text) {
    constexpr std::size_t kIdSize = 24;  // With its quotes and comma.
    table_.entries_.reserve(std::min(text.size() / kIdSize, kFoldedAccessesMax));
    for_each_text_line(whole_lines(text), [&](std::string_view line) { add_line(line); });
  }

  void add_line(std::string_view text) {
    if (!scan_access_line(text, line_) && !parse(text)) {
      ++table_.damaged_count_;
      return;
    }
    for (const std::string_view id : line_.ids) {
      Access& access = table_.entries_[id];
      access.count = std::min(access.count + line_.count, kAccessCountMax);
      access.last = std::max(access.last, line_.last);
    }
  }

  /// As scan_access_line(), for any JSON that says the same.
  bool parse(std::string_view text) {
    if (!parser_) {
      parser_.emplace();  // Seldom needed.
    }
    const Result<JsonValue> value = parser_->parse(text);
    if (!value || !value->is_object()) {
      return false;
    }
    const bool is_of_one = (*value)["id"].present();
    const auto time = try_parse_rfc3339((*value)[is_of_one ? "last" : "at"].string());
    const JsonValue counted = (*value)["count"];
    const std::int64_t count = is_of_one || counted.present() ? counted.integer(-1) : 1;
    if (!time || count < 0 || count > static_cast<std::int64_t>(kAccessCountMax)) {
      return false;
    }
    line_.last = *time;
    line_.count = static_cast<std::uint64_t>(count);
    line_.ids.clear();
    if (is_of_one) {
      return add_id((*value)["id"]);
    }
    for (const JsonValue id : (*value)["ids"].elements()) {
      if (!add_id(id)) {
        return false;
      }
    }
    return (*value)["ids"].is_array();
  }

  bool add_id(JsonValue id) {
    if (id.is_string()) {
      line_.ids.emplace_back(table_.texts_.emplace_back(id.string()));
    }
    return id.is_string();
  }

  AccessTable table_;
  AccessLine line_;
  std::optional<JsonParser> parser_;
};

const Access* AccessTable::find(std::string_view id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second;
}

Status append_accesses(FileSystem& files, const Clock& clock, std::string_view session_id,
                       std::span<const std::string> ids, Timestamp now) {
  if (ids.empty()) {
    return {};
  }
  std::string line;
  begin_line(line, {.count = 1, .last = std::chrono::floor<std::chrono::seconds>(now)});
  for (const std::string& id : ids) {
    add_to_line(line, id);
    if (line.size() > kAccessLineSizeMax) {
      break;
    }
  }
  end_line(line);
  const std::string path = access_path(session_id);
  BMAD_TRY_ASSIGN(std::unique_ptr<File> file, files.open(path, OpenMode::kAppend));
  BMAD_TRY_ASSIGN(FileInfo info, file->info());
  if (info.size + line.size() > kAccessLogSizeMax) {
    const Status made = make_room(files, clock, session_id, line.size());
    if (!made) {
      return path_error(ErrorCode::E_SIZE_LIMIT, files.display_path(path),
                        fmt::format("is full, and can't be folded now: {}", made.error().message));
    }
    BMAD_TRY_ASSIGN(file, files.open(path, OpenMode::kAppend));
  }
  BMAD_TRY_ASSIGN(const std::size_t size, file->write(line));
  if (size < line.size()) {
    return posix_error(ENOSPC, "write", files.display_path(path));
  }
  return {};
}

Result<AccessTable> read_accesses(FileSystem& files, std::string_view session_id) {
  BMAD_TRY_ASSIGN(std::string text, read_if_there(files, access_path(session_id), kReadSizeMax));
  return AccessReader::read(std::move(text));
}

Status fold_accesses(FileSystem& files, std::string_view session_id,
                     const std::function<bool(std::string_view id)>& keep) {
  BMAD_TRY_ASSIGN(const AccessTable table, read_accesses(files, session_id));
  if (table.log_size() == 0) {
    return {};
  }
  std::vector<Row> rows;
  for (const auto& [id, access] : table.entries()) {
    if (is_entry_id(id) && keep(id)) {
      const Timestamp hour = std::chrono::floor<std::chrono::hours>(access.last);
      rows.emplace_back(id, Access{.count = access.count, .last = hour});
    }
  }
  const std::string path = access_path(session_id);
  return rows.empty() ? files.remove(path) : replace_derived_file(files, path, folded_text(rows));
}

void AccessNotes::note(const std::string& session_id, const std::string& id, Timestamp now) {
  const std::lock_guard guard(mutex_);
  ids_[session_id].push_back(id);
  ++count_;
  last_ = now;
}

void AccessNotes::write_if_many(FileSystem& files, const Clock& clock) {
  {
    const std::lock_guard guard(mutex_);
    if (count_ < kMany) {
      return;
    }
  }
  write(files, clock);
}

void AccessNotes::write(FileSystem& files, const Clock& clock) {
  std::map<std::string, std::vector<std::string>, std::less<>> ids;
  Timestamp at;
  {
    const std::lock_guard guard(mutex_);
    ids = std::exchange(ids_, {});
    count_ = 0;
    at = last_;
  }
  for (const auto& [session_id, of_session] : ids) {
    static_cast<void>(append_accesses(files, clock, session_id, of_session, at));
  }
}

bool scan_access_line(std::string_view text, AccessLine& line) {
  Cursor cursor(text);
  if (cursor.take("{\"id\":\"")) {
    return scan_one(cursor, line);
  }
  return cursor.take("{\"at\":\"") && scan_several(cursor, line);
}

}  // namespace bmad_mem
