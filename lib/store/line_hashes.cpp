// line_hashes.cpp - the hashes of the lines that were durable, read, extended and carried over a
// rewrite.
#include "store/line_hashes.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "store/append_log.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {
namespace {

constexpr std::int64_t kLineHashesVersion = 1;
/// Eight digits a line: a session at its cap has some 30,000 lines, so 240 KB.
constexpr std::uint64_t kLineHashesSizeMax = 64U << 20U;
constexpr std::size_t kDigits = 8;

std::string hex_of(std::span<const std::uint32_t> hashes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text(hashes.size() * kDigits, '\0');
  char* to = text.data();
  for (const std::uint32_t hash : hashes) {
    for (unsigned shift = 32; shift > 0; shift -= 4) {
      *to++ = kHex[(hash >> (shift - 4)) & 15U];
    }
  }
  assert(to == text.data() + text.size());
  return text;
}

bool read_hashes(std::string_view text, std::vector<std::uint32_t>& hashes) {
  if (text.size() % kDigits != 0) {
    return false;
  }
  hashes.reserve(text.size() / kDigits);
  for (; !text.empty(); text.remove_prefix(kDigits)) {
    const auto hash = number_in<std::uint32_t>(text.substr(0, kDigits), 16);
    if (!hash) {
      return false;
    }
    hashes.push_back(*hash);
  }
  return true;
}

bool read_log_hashes(JsonValue object, LogHashes& line_hashes) {
  line_hashes.bytes = object["bytes"].natural();
  line_hashes.inode = object["inode"].natural();
  line_hashes.mtime_ns = object["mtime_ns"].integer();
  line_hashes.is_damaged = object["damaged"].boolean();
  const std::string_view digits = object["line_hashes"].string();
  if (object["xxh3"].string() != hash_hex(xxh3(digits)) ||
      !read_hashes(digits, line_hashes.lines)) {
    return false;
  }
  line_hashes.replaced_lines =
      std::min<std::uint64_t>(object["replaced_lines"].natural(), line_hashes.lines.size());
  return true;
}

RefusedBytes read_refused(JsonValue object) {
  RefusedBytes refused{.inode = object["inode"].natural()};
  for (const JsonValue range : object["ranges"].elements()) {
    std::vector<JsonValue> parts;
    std::ranges::copy(range.elements(), std::back_inserter(parts));
    const std::optional<std::uint64_t> hash =
        parts.size() == 3 ? number_in<std::uint64_t>(parts[2].string(), 16) : std::nullopt;
    if (hash) {
      refused.ranges.push_back(
          {.bytes = {.begin = parts[0].natural(), .end = parts[1].natural()}, .xxh3 = *hash});
    }
  }
  return refused;
}

std::string to_text(const LineHashes& line_hashes) {
  JsonWriter json;
  json.begin_object().member("version", kLineHashesVersion).key("logs").begin_object();
  for (const auto& [name, log] : line_hashes.logs) {
    const std::string digits = hex_of(log.lines);
    json.key(name).begin_object().member("bytes", log.bytes).member("lines", log.lines.size());
    json.member("inode", log.inode).member("mtime_ns", log.mtime_ns);
    json.member("damaged", log.is_damaged).member("replaced_lines", log.replaced_lines);
    json.member("xxh3", hash_hex(xxh3(digits))).member("line_hashes", digits).end_object();
  }
  json.end_object().key("refused").begin_object();
  for (const auto& [name, refused] : line_hashes.refused) {
    json.key(name).begin_object().member("inode", refused.inode).key("ranges").begin_array();
    for (const RefusedRange& range : refused.ranges) {
      json.begin_array().integer(static_cast<std::int64_t>(range.bytes.begin));
      json.integer(static_cast<std::int64_t>(range.bytes.end));
      json.string(hash_hex(range.xxh3)).end_array();
    }
    json.end_array().end_object();
  }
  return json.end_object().end_object().take() + '\n';
}

/// The session and the name of the log at `path`; empty when it is no log of a session.
struct LogName {
  std::string session_id;
  std::string log_file;
};

LogName log_name(std::string_view path) {
  const std::string prefix = fmt::format("{}/", kSessionsFolder);
  if (!path.starts_with(prefix) || !path.ends_with(".jsonl")) {
    return {};
  }
  const std::string_view inside = path.substr(prefix.size());
  const std::size_t slash = inside.find('/');
  if (slash == std::string_view::npos || inside.find('/', slash + 1) != std::string_view::npos ||
      !is_session_id(inside.substr(0, slash))) {
    return {};
  }
  return {.session_id = std::string(inside.substr(0, slash)),
          .log_file = std::string(inside.substr(slash + 1))};
}

/// Durably, before the log changes: after a crash there are no line hashes rather than wrong ones.
/// Returns what the log was recorded as.
Result<std::optional<LogHashes>> drop_from_line_hashes(FileSystem& files, const LogName& name) {
  assert(is_session_id(name.session_id) && !name.log_file.empty());
  const std::string path = line_hashes_path(name.session_id);
  Result<LineHashes> line_hashes = load_line_hashes(files, name.session_id);
  if (!line_hashes) {
    const bool is_newer = line_hashes.error().code == ErrorCode::E_NEWER_VERSION;
    BMAD_TRY(is_newer ? Status() : remove_durably(files, path));
    return std::optional<LogHashes>();
  }
  const auto found = line_hashes->logs.find(name.log_file);
  if (found == line_hashes->logs.end()) {
    return std::optional<LogHashes>();
  }
  LogHashes dropped = std::move(found->second);
  line_hashes->logs.erase(found);
  const std::string text = to_text(*line_hashes);
  if (!rename_into_place(files, path, [&](File& file) { return write_all(file, text); })) {
    BMAD_TRY(files.remove(path));  // A full disk: better no line hashes than wrong ones.
  }
  BMAD_TRY(files.sync_directory(parent_folder(path)));
  return std::optional(std::move(dropped));
}

using Hashes = std::vector<std::uint32_t>;

/// What a rewrite has made of each line of a log: the hash of the line that stands for it now;
/// nothing when it has gone.
std::vector<std::optional<std::uint32_t>> fates(const Hashes& before, const Hashes& after) {
  std::vector<std::optional<std::uint32_t>> now(before.size());
  const bool is_line_for_line = before.size() == after.size();
  std::size_t next = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (next < after.size() && (is_line_for_line || after[next] == before[i])) {
      now[i] = after[next++];
    }
  }
  return now;
}

/// `recorded` with what a rewrite has changed. A line that was not as recorded stays different: it
/// is found by its place when no line has moved, else it has no counterpart.
Hashes carried_over(std::span<const std::uint32_t> recorded, const Hashes& before,
                    const Hashes& after) {
  const std::vector<std::optional<std::uint32_t>> now = fates(before, after);
  const std::vector<LineDifference> differences = compare_lines(recorded, before);
  const bool in_place = std::ranges::all_of(
      differences, [](const LineDifference& d) { return d.change == LineFate::kChanged; });
  std::multimap<std::uint32_t, std::size_t> places;
  for (std::size_t i = 0; i < before.size(); ++i) {
    places.emplace(before[i], i);
  }
  Hashes carried;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto found = places.find(recorded[i]);
    if (found != places.end()) {
      if (now[found->second]) {
        carried.push_back(*now[found->second]);
      }
      places.erase(found);
    } else if (!in_place || i >= now.size() || now[i]) {
      carried.push_back(recorded[i]);
    }
  }
  assert(carried.size() <= recorded.size());
  return carried;
}

Status renew(FileSystem& files, const LogName& name, const LogHashes& recorded,
             const Hashes& before, bool nobody_changed_it) {
  BMAD_TRY_ASSIGN(LogHashes fresh, hash_log(files, session_file(name.session_id, name.log_file)));
  BMAD_TRY_ASSIGN(LineHashes line_hashes, load_line_hashes(files, name.session_id));
  if (!begin_with(before, recorded.lines)) {
    const std::span<const std::uint32_t> lines(recorded.lines);
    assert(recorded.replaced_lines <= lines.size());
    const Hashes after = std::move(fresh.lines);
    const std::size_t replaced =
        recorded.replaced_lines == 0 ? lines.size() : recorded.replaced_lines;
    fresh.lines = carried_over(lines.first(replaced), before, after);
    fresh.replaced_lines = fresh.lines.size();
    const Hashes rest = carried_over(lines.subspan(replaced), before, after);
    fresh.lines.insert(fresh.lines.end(), rest.begin(), rest.end());
    fresh.is_damaged = recorded.is_damaged || (nobody_changed_it && recorded.replaced_lines == 0);
  }
  line_hashes.logs.insert_or_assign(name.log_file, std::move(fresh));
  return save_line_hashes(files, name.session_id, line_hashes);
}

/// Where line `index`, from 0, begins; where the last one ends, when there are no more.
Result<std::uint64_t> line_offset(File& log, std::size_t index) {
  LineReader reader(log, kLineSizeMax);
  Line line;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < index; ++i) {
    BMAD_TRY_ASSIGN(const bool more, reader.next(line));
    if (!more) {
      break;
    }
    offset = line.offset + line.size + 1;
  }
  return offset;
}

/// Whether a log that became longer is the one that was recorded: git may have put another file
/// there, with the same inode number. Reads one line.
Result<bool> is_last_line_there(File& log, const LogHashes& line_hashes) {
  if (line_hashes.lines.size() == line_hashes.replaced_lines || line_hashes.bytes == 0) {
    return true;  // Nothing of it was recorded in this file.
  }
  assert(line_hashes.replaced_lines < line_hashes.lines.size());
  BMAD_TRY_ASSIGN(const std::uint64_t begin, last_line_start(log, line_hashes.bytes - 1));
  BMAD_TRY_ASSIGN(const Hashes last, hash_lines(log, begin, line_hashes.bytes));
  return last.size() == 1 && last.front() == line_hashes.lines.back();
}

/// Where the first line at or behind `offset` begins: `offset`, unless an edit has moved the lines.
Result<std::uint64_t> line_start_from(File& log, std::uint64_t offset, std::uint64_t end) {
  if (offset == 0) {
    return offset;
  }
  BMAD_TRY_ASSIGN(const std::uint64_t newline, find_bytes(log, offset - 1, end, "\n"));
  return std::min(newline + 1, end);
}

}  // namespace

Result<LineHashes> load_line_hashes(FileSystem& files, std::string_view session_id) {
  const std::string path = line_hashes_path(session_id);
  const Result<std::string> text = read_file(files, path, kLineHashesSizeMax);
  if (!text) {
    return is_not_found(text.error()) ? Result<LineHashes>(LineHashes()) : text.error();
  }
  const ParsedJson root(*text);
  const std::int64_t version = root ? (*root)["version"].integer() : 0;
  if (version > kLineHashesVersion) {
    return path_error(ErrorCode::E_NEWER_VERSION, files.display_path(path),
                      "has the line hashes of a newer bmad-mem; install a newer one");
  }
  if (version != kLineHashesVersion) {
    return path_error(ErrorCode::E_STORAGE_CORRUPT, files.display_path(path),
                      "is damaged and counts as none; the next write makes a new one");
  }
  LineHashes line_hashes;
  for (const JsonMember& member : (*root)["logs"].members()) {
    LogHashes log;
    if (read_log_hashes(member.value, log)) {
      line_hashes.logs.insert_or_assign(std::string(member.key), std::move(log));
    }
  }
  for (const JsonMember& member : (*root)["refused"].members()) {
    line_hashes.refused.insert_or_assign(std::string(member.key), read_refused(member.value));
  }
  return line_hashes;
}

Status save_line_hashes(FileSystem& files, std::string_view session_id,
                        const LineHashes& line_hashes) {
  return replace_derived_file(files, line_hashes_path(session_id), to_text(line_hashes));
}

Result<std::vector<std::uint32_t>> hash_lines(File& log, std::uint64_t begin, std::uint64_t end) {
  assert(begin <= end);
  if (end > kLogSizeMax) {
    return Error{.code = ErrorCode::E_SIZE_LIMIT, .message = "is longer than a log may be"};
  }
  std::vector<std::uint32_t> hashes;
  LineReader reader(log, kLineSizeMax);
  reader.seek(begin, 1);
  Line line;
  while (true) {
    BMAD_TRY_ASSIGN(const bool more, reader.next(line));
    if (!more || line.offset + line.size >= end) {
      return hashes;
    }
    // Of a line that is too long to be an entry, its length must do.
    const std::uint64_t hash = line.too_long ? xxh3(std::to_string(line.size)) : xxh3(line.text);
    hashes.push_back(static_cast<std::uint32_t>(hash));
  }
}

Status extend_hashes(File& log, std::uint64_t end, LogHashes& line_hashes) {
  // What is torn at the end is mended before the next append, and may become shorter.
  BMAD_TRY_ASSIGN(end, last_line_start(log, end));
  BMAD_TRY_ASSIGN(const std::uint64_t begin, line_start_from(log, line_hashes.bytes, end));
  BMAD_TRY_ASSIGN(const std::vector<std::uint32_t> hashes, hash_lines(log, begin, end));
  line_hashes.lines.insert(line_hashes.lines.end(), hashes.begin(), hashes.end());
  line_hashes.bytes = std::max(line_hashes.bytes, end);
  BMAD_TRY_ASSIGN(const FileInfo file, log.info());
  line_hashes.inode = file.inode;
  line_hashes.mtime_ns = file.mtime_ns;
  return {};
}

Result<bool> adopt_file(File& log, const FileInfo& file, LogHashes& line_hashes, AdoptLook look) {
  bool is_same = line_hashes.inode == file.inode && line_hashes.bytes <= file.size;
  if (is_same && look == AdoptLook::kLastLine) {
    BMAD_TRY_ASSIGN(is_same, is_last_line_there(log, line_hashes));
  } else if (is_same) {
    const bool is_touched = line_hashes.bytes == file.size && line_hashes.mtime_ns != file.mtime_ns;
    is_same = !is_touched;
  }
  if (is_same) {
    return false;
  }
  BMAD_TRY_ASSIGN(const std::vector<std::uint32_t> lines, hash_lines(log, 0, file.size));
  const bool nobody_changed_it =
      line_hashes.inode == file.inode && line_hashes.mtime_ns == file.mtime_ns;
  line_hashes.inode = file.inode;
  line_hashes.mtime_ns = file.mtime_ns;
  if (begin_with(lines, line_hashes.lines)) {  // A copy, or all is as it was written again.
    line_hashes.is_damaged = false;
    line_hashes.replaced_lines = 0;
    BMAD_TRY_ASSIGN(line_hashes.bytes, line_offset(log, line_hashes.lines.size()));
    return true;
  }
  line_hashes.is_damaged =
      line_hashes.is_damaged || (nobody_changed_it && line_hashes.replaced_lines == 0);
  line_hashes.replaced_lines = line_hashes.lines.size();
  // A process that could not write its record may have left lines of ours at the end.
  BMAD_TRY_ASSIGN(line_hashes.bytes,
                  line_offset(log, lines.size() - count_new_lines(line_hashes.lines, lines)));
  return true;
}

Result<LogHashes> hash_log(FileSystem& files, const std::string& path) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> log, files.open(path, OpenMode::kRead));
  BMAD_TRY_ASSIGN(const FileInfo file, log->info());
  LogHashes line_hashes;
  BMAD_TRY(extend_hashes(*log, file.size, line_hashes));
  return line_hashes;
}

Status rewrite_recorded(FileSystem& files, const std::string& path,
                        const std::function<Status()>& rewrite) {
  const LogName name = log_name(path);
  if (name.log_file.empty()) {
    return rewrite();
  }
  BMAD_TRY_ASSIGN(const std::optional<LogHashes> recorded, drop_from_line_hashes(files, name));
  Hashes before;
  bool nobody_changed_it = false;
  if (recorded) {
    BMAD_TRY_ASSIGN(const std::unique_ptr<File> log, files.open(path, OpenMode::kRead));
    BMAD_TRY_ASSIGN(const FileInfo file, log->info());
    BMAD_TRY_ASSIGN(before, hash_lines(*log, 0, file.size));
    nobody_changed_it = recorded->inode == file.inode && recorded->mtime_ns == file.mtime_ns;
  }
  Status rewritten = rewrite();
  if (recorded) {  // If this fails, the next write records the log.
    static_cast<void>(renew(files, name, *recorded, before, nobody_changed_it));
  }
  return rewritten;
}

Status replace_log(FileSystem& files, const std::string& path, std::string_view bytes) {
  return rewrite_recorded(files, path, [&] { return replace_file(files, path, bytes); });
}

}  // namespace bmad_mem
