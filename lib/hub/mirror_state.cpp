// mirror_state.cpp - reads and writes hub/state.json and hub/sessions/ID.json.
#include "hub/mirror_state.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::int64_t kMirrorVersion = 1;
constexpr std::uint64_t kMirrorSizeMax = 256U << 20U;
constexpr std::size_t kDigits = 16;
constexpr std::string_view kIgnoreAll = "*\n";

std::optional<std::uint64_t> read_hash(std::string_view digits) {
  return digits.size() == kDigits ? number_in<std::uint64_t>(digits, 16) : std::nullopt;
}

std::vector<JsonValue> parts_of(JsonValue list) {
  std::vector<JsonValue> parts;
  std::ranges::copy(list.elements(), std::back_inserter(parts));
  return parts;
}

/// Runs of seqs in a row, as [first, how many].
void write_seqs(JsonWriter& json, const std::vector<FeedLine>& lines) {
  assert(std::ranges::is_sorted(lines, {}, &FeedLine::seq) && "read_lines() refuses others");
  json.key("seqs").begin_array();
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t end = i + 1;
    while (end < lines.size() && lines[end].seq == lines[end - 1].seq + 1) {
      ++end;
    }
    json.raw(fmt::format("[{},{}]", lines[i].seq, end - i));
    i = end;
  }
  json.end_array();
}

bool read_lines(JsonValue log, std::vector<FeedLine>& lines) {
  const std::string_view digits = log["hashes"].string();
  const std::size_t count = digits.size() / kDigits;
  for (const JsonValue run : log["seqs"].elements()) {
    const std::vector<JsonValue> parts = parts_of(run);
    const std::uint64_t first = parts.size() == 2 ? parts[0].natural() : 0;
    const std::uint64_t length = parts.size() == 2 ? parts[1].natural() : 0;
    if (length > count - std::min(count, lines.size())) {
      return false;
    }
    for (std::uint64_t k = 0; k < length; ++k) {
      const auto hash = read_hash(digits.substr(lines.size() * kDigits, kDigits));
      if (!hash || (!lines.empty() && lines.back().seq >= first + k)) {
        return false;
      }
      lines.push_back({.seq = first + k, .hash = *hash});
    }
  }
  return digits.size() == lines.size() * kDigits;
}

bool read_out(JsonValue list, std::map<std::uint64_t, OutLine>& out) {
  for (const JsonValue row : list.elements()) {
    const std::vector<JsonValue> parts = parts_of(row);
    const auto type = parts.size() == 4 ? entry_type_of_log_file(parts[1].string()) : std::nullopt;
    const auto hash = type ? read_hash(parts[2].string()) : std::nullopt;
    if (!hash) {
      return false;
    }
    out.emplace(parts[0].natural(),
                OutLine{.log = *type, .hash = *hash, .is_deleted = parts[3].boolean()});
  }
  return true;
}

Error damaged(FileSystem& files, const std::string& path) {
  return path_error(ErrorCode::E_STORAGE_CORRUPT, files.display_path(path),
                    "is damaged; `bmad-mem hub reclone` makes it again of the hub, and keeps "
                    "what was not pushed");
}

/// The object in the file at `path`, of a version that this program knows; absent without a file.
Result<JsonValue> read_object(FileSystem& files, const std::string& path, JsonParser& parser) {
  const Result<std::string> text = read_file(files, path, kMirrorSizeMax);
  if (!text) {
    return is_not_found(text.error()) ? Result<JsonValue>(JsonValue()) : text.error();
  }
  const Result<JsonValue> value = parser.parse(*text);
  if (value && (*value)["version"].integer() > kMirrorVersion) {
    return path_error(ErrorCode::E_NEWER_VERSION, files.display_path(path),
                      "a newer bmad-mem wrote it; install that one");
  }
  if (!value || (*value)["version"].integer() != kMirrorVersion) {
    return damaged(files, path);
  }
  return *value;
}

}  // namespace

std::optional<OutLine> SessionMirror::take_out(std::uint64_t of) {
  for (const EntryType type : kEntryTypes) {
    std::vector<FeedLine>& lines = logs.at(static_cast<std::size_t>(type));
    const auto at = std::ranges::lower_bound(lines, of, {}, &FeedLine::seq);
    if (at != lines.end() && at->seq == of) {
      const OutLine taken{.log = type, .hash = at->hash};
      lines.erase(at);
      return taken;
    }
  }
  return std::nullopt;
}

const OutLine* SessionMirror::put_out(std::uint64_t of, bool is_deleted) {
  if (const std::optional<OutLine> line = take_out(of)) {
    out.emplace(of, *line);
  }
  const auto found = out.find(of);
  if (found == out.end()) {
    return nullptr;
  }
  found->second.is_deleted = found->second.is_deleted || is_deleted;
  return &found->second;
}

void SessionMirror::leave() {
  for (const EntryType type : kEntryTypes) {
    for (const FeedLine& line : std::exchange(logs.at(static_cast<std::size_t>(type)), {})) {
      out.emplace(line.seq, OutLine{.log = type, .hash = line.hash});
    }
  }
  for (auto& left : out) {
    left.second.is_deleted = true;
  }
  manifest.clear();
}

Result<std::optional<MirrorState>> load_mirror_state(FileSystem& files) {
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue object, read_object(files, kHubStateFile, parser));
  if (!object.present()) {
    return std::optional<MirrorState>();
  }
  MirrorState state{.service = std::string(object["service"].string()),
                    .project = std::string(object["project"].string()),
                    .replica = std::string(object["replica"].string()),
                    .cursor = object["cursor"].natural(),
                    .pushed = object["pushed"].natural(),
                    .rules = read_hash(object["rules"].string()).value_or(0)};
  const std::vector<JsonValue> mark = parts_of(object["mark"]);
  if (mark.size() == 2) {
    state.mark = {.seq = mark[0].natural(), .hash = read_hash(mark[1].string()).value_or(0)};
  }
  for (const JsonMember& session : object["seen"].members()) {
    state.seen[std::string(session.key)] = read_hash(session.value.string()).value_or(0);
  }
  if (state.project.empty() || state.replica.empty()) {
    return damaged(files, kHubStateFile);
  }
  return std::optional(std::move(state));
}

Status save_mirror_state(FileSystem& files, const MirrorState& state) {
  assert(!state.replica.empty() && "without one the file would be read as damaged");
  BMAD_TRY(ensure_folder(files, kHubSessionsFolder));
  BMAD_TRY_ASSIGN(const bool is_ignored, is_there(files, kHubIgnoreFile));
  if (!is_ignored) {
    BMAD_TRY(replace_file(files, kHubIgnoreFile, kIgnoreAll));
  }
  JsonWriter json;
  json.begin_object()
      .member("version", kMirrorVersion)
      .member("service", state.service)
      .member("project", state.project)
      .member("replica", state.replica)
      .member("cursor", state.cursor)
      .member("pushed", state.pushed)
      .member("rules", hash_hex(state.rules))
      .key("mark")
      .raw(fmt::format(R"([{},"{}"])", state.mark.seq, hash_hex(state.mark.hash)))
      .key("seen")
      .begin_object();
  for (const auto& [session_id, digest] : state.seen) {
    json.member(session_id, hash_hex(digest));
  }
  json.end_object().end_object();
  return replace_file(files, kHubStateFile, json.take() + "\n");
}

Result<SessionMirror> load_session_mirror(FileSystem& files, const std::string& session_id) {
  SessionMirror mirror{.session_id = session_id};
  const std::string path = hub_session_path(session_id);
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue object, read_object(files, path, parser));
  mirror.seq = object["seq"].natural();
  mirror.is_behind = object["behind"].boolean();
  mirror.manifest = object["manifest"].string();
  for (const JsonMember& log : object["logs"].members()) {
    const auto type = entry_type_of_log_file(log.key);
    if (!type || !read_lines(log.value, mirror.logs.at(static_cast<std::size_t>(*type)))) {
      return damaged(files, path);
    }
  }
  if (!read_out(object["out"], mirror.out)) {
    return damaged(files, path);
  }
  return mirror;
}

Status save_session_mirror(FileSystem& files, const SessionMirror& mirror) {
  JsonWriter json;
  json.begin_object()
      .member("version", kMirrorVersion)
      .member("seq", mirror.seq)
      .member("behind", mirror.is_behind)
      .member("manifest", mirror.manifest)
      .key("logs")
      .begin_object();
  for (const EntryType type : kEntryTypes) {
    const std::vector<FeedLine>& lines = mirror.logs.at(static_cast<std::size_t>(type));
    if (lines.empty()) {
      continue;
    }
    json.key(entry_type_info(type).log_file).begin_object();
    write_seqs(json, lines);
    std::string digits;
    digits.reserve(lines.size() * kDigits);
    for (const FeedLine& line : lines) {
      digits += hash_hex(line.hash);
    }
    assert(digits.size() == lines.size() * kDigits);
    json.member("hashes", digits).end_object();
  }
  json.end_object().key("out").begin_array();
  for (const auto& [seq, line] : mirror.out) {
    json.raw(fmt::format(R"([{},"{}","{}",{}])", seq, entry_type_info(line.log).log_file,
                         hash_hex(line.hash), line.is_deleted));
  }
  json.end_array().end_object();
  return replace_file(files, hub_session_path(mirror.session_id), json.take() + "\n");
}

Result<std::vector<std::string>> mirrored_sessions(FileSystem& files) {
  return ids_of_files(files, kHubSessionsFolder, ".json");
}

}  // namespace bmad_mem
