// index_state.cpp - reads and writes index/CURRENT.
#include "search/index_state.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "search/analyzer.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr int kIndexVersion = 2;

std::uint64_t unsigned_at(JsonValue object, std::string_view key) {
  return static_cast<std::uint64_t>(object[key].integer());
}

/// Where a log has what; index_state_text() writes it.
enum LogPart : std::uint8_t {
  kType,
  kBytes,
  kLines,
  kHash,
  kInode,
  kMtime,
  kChain,
  kOdd,
  kLogParts
};

std::optional<CoveredLog> parse_log(JsonValue value, std::uint64_t device) {
  std::array<JsonValue, kLogParts> parts;
  std::size_t count = 0;
  for (const JsonValue part : value.elements()) {
    if (count == parts.size()) {
      return std::nullopt;
    }
    parts[count++] = part;
  }
  const auto type = static_cast<std::uint64_t>(parts[kType].integer(kEntryTypeCount));
  if (type >= kEntryTypeCount) {
    return std::nullopt;
  }
  const JsonValue odd = parts[kOdd];
  const std::int64_t bytes = parts[kBytes].integer();
  CoveredLog log{.type = static_cast<EntryType>(type)};
  log.cover = {.bytes = static_cast<std::uint64_t>(bytes),
               .lines = static_cast<std::uint64_t>(parts[kLines].integer()),
               .hash = number_in<std::uint64_t>(parts[kHash].string(), 16).value_or(0),
               .file = {.device = static_cast<std::uint64_t>(
                            odd["device"].integer(static_cast<std::int64_t>(device))),
                        .inode = static_cast<std::uint64_t>(parts[kInode].integer()),
                        .size = static_cast<std::uint64_t>(odd["size"].integer(bytes)),
                        .mtime_ns = parts[kMtime].integer(),
                        .ctime_ns = odd["ctime_ns"].integer()},
               .mtime_is_telling = parts[kMtime].integer() != 0,
               .chain = number_in<std::uint64_t>(parts[kChain].string(), 16).value_or(0),
               .has_tail = odd["tail"].boolean(),
               .encrypted = unsigned_at(odd, "sealed")};
  return log;
}

/// All but the number in the segment.
std::optional<CoveredSession> parse_session(JsonValue value, std::uint64_t device) {
  CoveredSession session{.segment = static_cast<std::uint32_t>(value["segment"].integer()),
                         .package = unsigned_at(value, "package")};
  std::array<std::int64_t, 2> folder{};
  std::size_t at = 0;
  for (const JsonValue part : value["folder"].elements()) {
    folder[std::min<std::size_t>(at++, 1)] = part.integer();
  }
  session.folder_inode = static_cast<std::uint64_t>(folder[0]);
  session.folder_mtime_ns = folder[1];
  session.empty_logs = static_cast<std::uint32_t>(value["empty"].integer());
  session.encrypted = unsigned_at(value, "sealed");
  session.logs.reserve(kEntryTypeCount);
  for (const JsonValue each : value["logs"].elements()) {
    const std::optional<CoveredLog> log = parse_log(each, device);
    if (!log || (!session.logs.empty() && session.logs.back().type >= log->type)) {
      return std::nullopt;
    }
    session.logs.push_back(*log);
  }
  return session;
}

/// The first line has the hash of the others.
bool has_its_hash(JsonParser& parser, std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || end == 0) {
    return false;
  }
  const Result<JsonValue> head =
      parser.parse(fmt::format("{}}}", text.substr(0, end - 1)));  // Without its comma.
  return head && (*head)["version"].integer() == kIndexVersion &&
         (*head)["xxh3"].string() == hash_hex(xxh3(text.substr(end + 1)));
}

/// Of all logs that say no other.
std::uint64_t usual_device(const IndexState& state) {
  for (const auto& [id, covered] : state.sessions) {
    if (!covered.logs.empty()) {
      return covered.logs.front().cover.file.device;
    }
  }
  return 0;
}

/// A log; see LogPart. What is as nearly always is left out.
std::string log_text(const CoveredLog& log, std::uint64_t device) {
  const LogCover& cover = log.cover;
  std::string text =
      fmt::format("[{},{},{},\"{}\",{},{}", static_cast<unsigned>(log.type), cover.bytes,
                  cover.lines, hash_hex(cover.hash), static_cast<std::int64_t>(cover.file.inode),
                  cover.mtime_is_telling ? cover.file.mtime_ns : 0);
  std::string odd;
  const auto add = [&](std::string_view name, auto value) {
    odd += fmt::format("{}\"{}\": {}", odd.empty() ? "" : ", ", name, value);
  };
  if (cover.file.size != cover.bytes) {
    add("size", cover.file.size);
  }
  if (cover.file.device != device) {
    add("device", static_cast<std::int64_t>(cover.file.device));
  }
  if (cover.mtime_is_telling && cover.file.ctime_ns != 0) {
    add("ctime_ns", cover.file.ctime_ns);
  }
  if (cover.has_tail) {
    add("tail", true);
  }
  if (cover.encrypted != 0) {
    add("sealed", cover.encrypted);
  }
  if (cover.chain != 0 || !odd.empty()) {
    text += cover.chain == 0 ? ",null" : fmt::format(",\"{}\"", hash_hex(cover.chain));
  }
  text += odd.empty() ? "]" : fmt::format(",{{{}}}]", odd);
  return text;
}

}  // namespace

std::string covered_key(std::string_view session_id, std::uint32_t evicted_part) {
  return evicted_part < 2 ? fmt::format("{}{}", session_id, evicted_part == 0 ? "" : "/evicted")
                          : fmt::format("{}/evicted.{}", session_id, evicted_part);
}

std::uint64_t encrypted_lines(const CoveredSession& covered) {
  std::uint64_t count = covered.encrypted;
  for (const CoveredLog& log : covered.logs) {
    count += log.cover.encrypted;
  }
  return count;
}

std::string segment_path(std::string_view name) { return fmt::format("{}/{}", kIndexFolder, name); }

bool is_segment_name(std::string_view name) {
  return name.ends_with(".seg") && name.size() > 4 &&
         std::ranges::all_of(name.substr(0, name.size() - 4), is_digit);
}

std::shared_ptr<IndexState> parse_index_state(std::string text, std::string_view language,
                                              const OpenSegment& open) {
  JsonParser parser;
  const std::size_t size = text.size();
  text.append(kJsonPadding, '\0');
  const std::string_view bytes(text.data(), size);
  if (!has_its_hash(parser, bytes)) {
    return nullptr;
  }
  const std::optional<JsonValue> all = parser.try_parse_padded(bytes);
  if (!all || (*all)["analyzer"].integer() != kAnalyzerVersion ||
      (*all)["language"].string() != language) {
    return nullptr;
  }
  auto state = std::make_shared<IndexState>();
  state->next = unsigned_at(*all, "next");
  std::vector<std::map<std::string, std::uint32_t, std::less<>>> numbers;  // Of each segment.
  for (const JsonMember& member : (*all)["segments"].members()) {
    std::string name(member.key);
    const std::optional<std::uint64_t> hash = number_in<std::uint64_t>(member.value.string(), 16);
    if (!is_segment_name(name) || !hash) {
      return nullptr;
    }
    std::shared_ptr<Segment> segment = open(name, *hash);
    numbers.emplace_back();
    for (std::uint32_t i = 0; segment != nullptr && i < segment->sessions.size(); ++i) {
      numbers.back().emplace(covered_key(segment->sessions[i].id, segment->sessions[i].evicted), i);
    }
    state->names.push_back(std::move(name));
    state->segments.push_back(std::move(segment));
  }
  const std::uint64_t device = unsigned_at(*all, "device");
  for (const JsonMember& member : (*all)["sessions"].members()) {
    std::optional<CoveredSession> session = parse_session(member.value, device);
    if (!session || session->segment >= numbers.size()) {
      return nullptr;
    }
    const auto number = numbers[session->segment].find(std::string_view(member.key));
    if (number != numbers[session->segment].end()) {
      session->number = number->second;
      state->sessions.emplace_hint(state->sessions.end(), member.key, *std::move(session));
    }
  }
  assert(state->names.size() == state->segments.size());
  return state;
}

std::string index_state_text(const IndexState& state, std::string_view language) {
  assert(state.names.size() == state.segments.size());
  const std::uint64_t device = usual_device(state);
  std::string rest = fmt::format(
      "\"analyzer\": {}, \"language\": {}, \"next\": {}, \"device\": {},\n\"segments\": {{",
      kAnalyzerVersion, json_quoted(language), state.next, static_cast<std::int64_t>(device));
  for (std::size_t i = 0; i < state.names.size(); ++i) {
    rest += fmt::format("{}\"{}\": \"{}\"", i == 0 ? "" : ", ", state.names[i],
                        hash_hex(state.segments[i] == nullptr ? 0 : state.segments[i]->hash));
  }
  rest += "},\n\"sessions\": {";
  bool is_first = true;
  for (const auto& [id, covered] : state.sessions) {
    assert(covered.segment < state.names.size());
    rest +=
        fmt::format("{}\n\"{}\": {{\"segment\": {}, ", is_first ? "" : ",", id, covered.segment);
    is_first = false;
    if (covered.package != 0) {
      rest += fmt::format(
          "\"package\": {}{}}}", covered.package,
          covered.encrypted == 0 ? "" : fmt::format(", \"sealed\": {}", covered.encrypted));
      continue;
    }
    rest += fmt::format("\"folder\": [{}, {}], \"empty\": {}, \"logs\": [",
                        static_cast<std::int64_t>(covered.folder_inode), covered.folder_mtime_ns,
                        covered.empty_logs);
    for (const CoveredLog& log : covered.logs) {
      rest += &log == covered.logs.data() ? "" : ",";
      rest += log_text(log, device);
    }
    rest += "]}";
  }
  rest += "\n}\n}\n";
  return fmt::format("{{\"version\": {}, \"xxh3\": \"{}\",\n{}", kIndexVersion,
                     hash_hex(xxh3(rest)), rest);
}

std::vector<std::shared_ptr<SegmentVectors>> vectors_of_all(const IndexState& state) {
  std::vector<std::shared_ptr<SegmentVectors>> vectors;
  for (const std::shared_ptr<Segment>& segment : state.segments) {
    vectors.push_back(segment != nullptr ? segment->vectors() : nullptr);
  }
  return vectors;
}

}  // namespace bmad_mem
