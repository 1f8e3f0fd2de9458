#include "index_state.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "core/hash.hpp"
#include "index/analyzer.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {
namespace {

constexpr int kIndexVersion = 1;

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? std::optional(number)
                                                                             : std::nullopt;
}

std::uint64_t unsigned_at(JsonValue object, std::string_view key) {
  return static_cast<std::uint64_t>(object[key].integer());
}

std::optional<CoveredLog> parse_log(const JsonMember& member) {
  const std::optional<EntryType> type = try_parse_entry_type(member.key);
  if (!type) {
    return std::nullopt;
  }
  CoveredLog log{.type = *type,
                 .has_tail = member.value["tail"].boolean(),
                 .bytes = unsigned_at(member.value, "bytes"),
                 // Older versions have another hash here, "xxh3": it never fits.
                 .hash = parse_hex(member.value["lines_xxh3"].string()).value_or(0),
                 .chain = parse_hex(member.value["chain"].string()).value_or(0),
                 .size = unsigned_at(member.value, "size"),
                 .device = unsigned_at(member.value, "device"),
                 .inode = unsigned_at(member.value, "inode"),
                 .mtime_ns = member.value["mtime_ns"].integer(),
                 .ctime_ns = member.value["ctime_ns"].integer(),
                 .lines = unsigned_at(member.value, "lines")};
  log.mtime_is_telling = log.mtime_ns != 0;
  return log;
}

/// All but the number in the segment.
std::optional<CoveredSession> parse_session(JsonValue value) {
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
  for (const JsonMember& member : value["logs"].members()) {
    const std::optional<CoveredLog> log = parse_log(member);
    if (!log) {
      return std::nullopt;
    }
    session.logs.push_back(*log);
  }
  return session;
}

/// The first line has the hash of the others.
bool has_its_hash(JsonParser& parser, const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos || end == 0) {
    return false;
  }
  const Result<JsonValue> head = parser.parse(text.substr(0, end - 1) + "}");  // Without its comma.
  return head && (*head)["version"].integer() == kIndexVersion &&
         (*head)["xxh3"].string() == hash_hex(xxh3(std::string_view(text).substr(end + 1)));
}

}  // namespace

std::string covered_key(std::string_view session_id, bool evicted) {
  return fmt::format("{}{}", session_id, evicted ? "/evicted" : "");
}

std::string segment_path(std::string_view name) { return fmt::format("{}/{}", kIndexFolder, name); }

bool is_segment_name(std::string_view name) {
  return name.ends_with(".seg") && name.size() > 4 &&
         std::ranges::all_of(name.substr(0, name.size() - 4),
                             [](char c) { return c >= '0' && c <= '9'; });
}

std::shared_ptr<IndexState> parse_index_state(const std::string& text, std::string_view language,
                                              const OpenSegment& open) {
  JsonParser parser;
  if (!has_its_hash(parser, text)) {
    return nullptr;
  }
  const Result<JsonValue> all = parser.parse(text);
  if (!all || (*all)["analyzer"].integer() != kAnalyzerVersion ||
      (*all)["language"].string() != language) {
    return nullptr;
  }
  auto state = std::make_shared<IndexState>();
  state->next = unsigned_at(*all, "next");
  std::vector<std::map<std::string, std::uint32_t, std::less<>>> numbers;  // Of each segment.
  for (const JsonMember& member : (*all)["segments"].members()) {
    std::string name(member.key);
    const std::optional<std::uint64_t> hash = parse_hex(member.value.string());
    if (!is_segment_name(name) || !hash) {
      return nullptr;
    }
    std::shared_ptr<Segment> segment = open(name, *hash);
    numbers.emplace_back();
    for (std::uint32_t i = 0; segment != nullptr && i < segment->session_count(); ++i) {
      numbers.back().emplace(covered_key(segment->session_id(i), segment->is_evicted(i)), i);
    }
    state->names.push_back(std::move(name));
    state->segments.push_back(std::move(segment));
  }
  for (const JsonMember& member : (*all)["sessions"].members()) {
    std::optional<CoveredSession> session = parse_session(member.value);
    if (!session || session->segment >= numbers.size()) {
      return nullptr;
    }
    const auto number = numbers[session->segment].find(std::string_view(member.key));
    if (number != numbers[session->segment].end()) {
      session->number = number->second;
      state->sessions.emplace(member.key, *std::move(session));
    }
  }
  return state;
}

std::string index_state_text(const IndexState& state, std::string_view language) {
  std::string rest =
      fmt::format("\"analyzer\": {}, \"language\": {}, \"next\": {},\n\"segments\": {{",
                  kAnalyzerVersion, json_quoted(language), state.next);
  for (std::size_t i = 0; i < state.names.size(); ++i) {
    rest += fmt::format("{}\"{}\": \"{}\"", i == 0 ? "" : ", ", state.names[i],
                        hash_hex(state.segments[i] == nullptr ? 0 : state.segments[i]->hash()));
  }
  rest += "},\n\"sessions\": {";
  bool is_first = true;
  for (const auto& [id, covered] : state.sessions) {
    rest +=
        fmt::format("{}\n\"{}\": {{\"segment\": {}, ", is_first ? "" : ",", id, covered.segment);
    is_first = false;
    if (covered.package != 0) {
      rest += fmt::format("\"package\": {}}}", covered.package);
      continue;
    }
    rest += fmt::format("\"folder\": [{}, {}], \"empty\": {}, \"logs\": {{",
                        static_cast<std::int64_t>(covered.folder_inode), covered.folder_mtime_ns,
                        covered.empty_logs);
    bool is_first_log = true;
    for (const CoveredLog& log : covered.logs) {
      rest += fmt::format(
          "{}\"{}\": {{\"bytes\": {}, \"lines\": {}, \"lines_xxh3\": \"{}\", \"size\": {}, "
          "\"device\": {}, \"inode\": {}, \"mtime_ns\": {}{}{}{}}}",
          is_first_log ? "" : ", ", entry_type_name(log.type), log.bytes, log.lines,
          hash_hex(log.hash), log.size, static_cast<std::int64_t>(log.device),
          static_cast<std::int64_t>(log.inode), log.mtime_is_telling ? log.mtime_ns : 0,
          log.mtime_is_telling && log.ctime_ns != 0
              ? fmt::format(", \"ctime_ns\": {}", log.ctime_ns)
              : "",
          log.chain == 0 ? "" : fmt::format(", \"chain\": \"{}\"", hash_hex(log.chain)),
          log.has_tail ? ", \"tail\": true" : "");
      is_first_log = false;
    }
    rest += "}}";
  }
  rest += "\n}\n}\n";
  return fmt::format("{{\"version\": {}, \"xxh3\": \"{}\",\n{}", kIndexVersion,
                     hash_hex(xxh3(rest)), rest);
}

}  // namespace bmad_mem
