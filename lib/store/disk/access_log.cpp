// access_log.cpp - notes which entries were returned, reads the notes and folds them.
#include "store/access_log.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
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
constexpr std::int64_t kAccessCountMax = 999'999'999'999'999;

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

}  // namespace

/// Fills an AccessTable from the text of a log.
class AccessReader {
 public:
  static AccessTable read(std::string text) {
    constexpr std::size_t kIdSize = 24;  // With its quotes and comma.
    AccessReader reader;
    AccessTable& table = reader.table_;
    table.log_size_ = text.size();
    table.ids_.reserve(text.size());
    table.entries_.reserve(std::min(text.size() / kIdSize, kFoldedAccessesMax));
    text.append(kJsonPadding, '\0');
    const std::string_view lines = std::string_view(text).substr(0, table.log_size_);
    for_each_text_line(whole_lines(lines), [&](std::string_view line) {
      table.damaged_count_ += reader.add_line(line) ? 0 : 1;
    });
    return std::move(table);
  }

 private:
  /// False when the line, behind which there is padding, is none of ours.
  bool add_line(std::string_view text) {
    const std::optional<JsonValue> line = parser_.try_parse_padded(text);
    if (!line) {
      return false;
    }
    const JsonValue one = (*line)["id"];  // As version 0.1 wrote it.
    const JsonValue ids = (*line)["ids"];
    const JsonValue counted = (*line)["count"];
    const auto time = try_parse_rfc3339((*line)[one.present() ? "last" : "at"].string());
    const std::int64_t count = one.present() || counted.present() ? counted.integer(-1) : 1;
    if (!time || count < 0 || count > kAccessCountMax ||
        !(one.present() ? one.is_string() : is_string_list(ids))) {
      return false;
    }
    const auto add = [&](JsonValue id) {
      Access& access = access_of(id.string());
      access.count = std::min(access.count + static_cast<std::uint64_t>(count),
                              std::uint64_t{kAccessCountMax});
      access.last = std::max(access.last, *time);
    };
    if (one.present()) {
      add(one);
    }
    std::ranges::for_each(ids.elements(), add);
    return true;
  }

  Access& access_of(std::string_view id) {
    const auto found = table_.entries_.find(id);
    if (found != table_.entries_.end()) {
      return found->second;
    }
    const std::size_t at = table_.ids_.size();
    assert(at + id.size() <= table_.ids_.capacity() && "the views into it stay valid");
    table_.ids_ += id;
    return table_.entries_[std::string_view(table_.ids_).substr(at)];
  }

  AccessTable table_;
  JsonParser parser_;
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

}  // namespace bmad_mem
