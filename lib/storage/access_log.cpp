#include "storage/access_log.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "access_scanner.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "posix_error.hpp"
#include "storage/atomic_file.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {
namespace {

/// Twice what appending and folding can make of it.
constexpr std::uint64_t kReadSizeMax = 2 * kAccessLogSizeMax;

using Row = std::pair<std::string_view, Access>;

bool is_before(const Row& a, const Row& b) { return a.first < b.first; }

bool is_more_recent(const Row& a, const Row& b) {
  return a.second.last != b.second.last ? a.second.last > b.second.last : is_before(a, b);
}

std::string folded_text(std::vector<Row>& rows) {
  if (rows.size() > kFoldedAccessesMax) {
    const auto end = rows.begin() + kFoldedAccessesMax;
    std::ranges::nth_element(rows, end, is_more_recent);
    rows.erase(end, rows.end());
  }
  std::ranges::sort(rows, is_before);
  std::string text;
  for (const auto& [id, access] : rows) {
    text += "{\"id\":";
    append_json_quoted(text, id);
    text +=
        fmt::format(",\"count\":{},\"last\":\"{}\"}}\n", access.count, format_rfc3339(access.last));
  }
  return text;
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
    constexpr std::size_t kLineSize = 80;  // Of a folded line.
    table_.entries_.reserve(std::min(text.size() / kLineSize, kFoldedAccessesMax));
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      add_line(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
  }

  void add_line(std::string_view text) {
    if (!scan_access_line(text, line_) && !parse(text)) {
      ++table_.damaged_count_;
      return;
    }
    for (const std::string_view id : line_.ids) {
      Access& access = table_.entries_[id];
      access.count += line_.count;
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
    const bool is_folded = (*value)["id"].present();
    const auto time = try_parse_rfc3339((*value)[is_folded ? "last" : "at"].string());
    const std::int64_t count = is_folded ? (*value)["count"].integer(-1) : 1;
    if (!time || count < 0 || count >= 1'000'000'000'000'000) {
      return false;
    }
    line_.last = *time;
    line_.count = static_cast<std::uint64_t>(count);
    line_.ids.clear();
    if (is_folded) {
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

Status append_accesses(FileSystem& files, std::string_view session_id,
                       std::span<const std::string> ids, Timestamp now) {
  if (ids.empty()) {
    return {};
  }
  std::string line = fmt::format("{{\"at\":\"{}\",\"ids\":[", format_rfc3339(now));
  for (const std::string& id : ids) {
    append_json_quoted(line, id);
    line += ',';
  }
  line.back() = ']';
  line += "}\n";
  const std::string path = access_path(session_id);
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kAppend));
  BMAD_TRY_ASSIGN(const FileInfo info, file->info());
  if (info.size + line.size() > kAccessLogSizeMax) {
    return Error{
        .code = ErrorCode::E_SIZE_LIMIT,
        .message = fmt::format("may have {} bytes; maintenance folds it", kAccessLogSizeMax),
        .path = files.display_path(path)};
  }
  BMAD_TRY_ASSIGN(const std::size_t size, file->write(line));
  if (size < line.size()) {
    return posix_error(ENOSPC, "write", files.display_path(path));
  }
  return {};
}

Result<AccessTable> read_accesses(FileSystem& files, std::string_view session_id) {
  Result<std::string> text = read_file(files, access_path(session_id), kReadSizeMax);
  if (!text) {
    if (is_not_found(text.error())) {
      return AccessTable();
    }
    return std::move(text).error();
  }
  return AccessReader::read(std::move(*text));
}

Status fold_accesses(FileSystem& files, std::string_view session_id,
                     const std::function<bool(std::string_view id)>& keep) {
  BMAD_TRY_ASSIGN(const AccessTable table, read_accesses(files, session_id));
  if (table.log_size() == 0) {
    return {};
  }
  std::vector<Row> rows;
  for (const auto& [id, access] : table.entries()) {
    if (keep(id)) {
      rows.emplace_back(id, access);
    }
  }
  const std::string path = access_path(session_id);
  return rows.empty() ? files.remove(path) : replace_derived_file(files, path, folded_text(rows));
}

}  // namespace bmad_mem
