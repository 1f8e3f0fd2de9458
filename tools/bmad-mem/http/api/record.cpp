// record.cpp - writing entries: one, many, a new version of one.
#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/text.hpp"
#include "cli/filters.hpp"
#include "cli/json_text.hpp"
#include "cli/text.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// A type of records as the specification names them, and the member that says so in ours.
struct SpecifiedType {
  std::string_view name;
  EntryType type;
  std::string_view member;
  std::string_view value;
};

constexpr std::array<SpecifiedType, 6> kSpecifiedTypes = {{
    {"prompt", EntryType::kConversation, "role", "user"},
    {"assistant", EntryType::kConversation, "role", "assistant"},
    {"tool_use", EntryType::kEvent, "kind", "tool_use"},
    {"tool_result", EntryType::kEvent, "kind", "tool_result"},
    {"approval", EntryType::kEvent, "kind", "approval"},
    {"error", EntryType::kEvent, "kind", "error"},
}};

const SpecifiedType* specified_type(std::string_view name) {
  return find_by(kSpecifiedTypes, name, &SpecifiedType::name);
}

/// What has been read of a record, and is not in its line.
constexpr std::array<std::string_view, 3> kReadMembers = {"session_id", "ts", "timestamp"};

/// The type of entries that a record of this type becomes: one of ours, or one of those. Errors:
/// E_INVALID_QUERY with the nearest.
Result<EntryType> record_type_of(std::string_view name) {
  if (const SpecifiedType* const specified = specified_type(name)) {
    return specified->type;
  }
  if (const std::optional<EntryType> type = try_parse_entry_type(name)) {
    return *type;
  }
  std::vector<std::string_view> known(kTypeNames.begin(), kTypeNames.end());
  std::ranges::transform(kSpecifiedTypes, std::back_inserter(known), &SpecifiedType::name);
  const std::string_view near = nearest_word(name, known);
  return bad_argument("type",
                      fmt::format("\"{}\" is no type{}; there are {}", utf8_prefix(name, 100),
                                  near.empty() ? "" : fmt::format(", did you mean {}?", near),
                                  fmt::join(known, ", ")));
}

struct RecordLine {
  EntryType type = EntryType::kConversation;
  std::string id;         ///< Empty when the record names none.
  Timestamp timestamp{};  ///< As in the line: `now` when the record has none.
  std::string json;       ///< With a timestamp, without type and session_id.
};

/// What `ts` or `timestamp` says; `now` without them.
Result<Timestamp> time_of(JsonValue record, Timestamp now) {
  const JsonValue text = record["timestamp"];
  const JsonValue ts = record["ts"];
  if (text.present() && ts.present()) {
    return bad_argument("timestamp", "give ts or timestamp, not both");
  }
  if (text.present()) {
    const std::optional<Timestamp> time = try_parse_rfc3339(text.string());
    return time ? Result<Timestamp>(*time)
                : bad_argument("timestamp", "must be a time such as \"2026-01-11T10:05:23Z\"");
  }
  // The year 9999: what RFC 3339 can say.
  constexpr std::int64_t kMsMax = 253'402'300'799'999;
  const std::int64_t ms = ts.integer(-1);
  if (ts.present() && (ms < 0 || ms > kMsMax)) {
    return bad_argument("ts", "must be milliseconds since 1970, as a whole number");
  }
  return ts.present() ? Timestamp(std::chrono::milliseconds(ms)) : now;
}

/// Of a specified type: the member that its name says already, and where the workspace goes.
Status check_specified(const SpecifiedType& specified, JsonValue record) {
  const JsonValue workspace = record["workspace"];
  const JsonValue metadata = record["metadata"];
  if (record[specified.member].present()) {
    return bad_argument(specified.member,
                        fmt::format("the type {} says it already; leave it out", specified.name));
  }
  if (workspace.present() && !workspace.is_string()) {
    return bad_argument("workspace", "must be a string");
  }
  if (workspace.present() && metadata.present() &&
      (!metadata.is_object() || metadata["workspace"].present())) {
    return bad_argument("metadata", "must be an object, and have no workspace beside the other");
  }
  return {};
}

/// `metadata`, JSON, with the workspace as a member of it. Either may be empty.
std::string with_workspace(std::string metadata, std::string_view workspace) {
  if (workspace.empty()) {
    return metadata;
  }
  metadata = metadata.empty() ? "{" : metadata.substr(0, metadata.size() - 1);
  return fmt::format("{}{}\"workspace\":{}}}", metadata, metadata == "{" ? "" : ",", workspace);
}

/// From what a client posts to the line that the engine takes.
///
///   {"type":"tool_use","session_id":"s1","ts":1768125600000,"tool":"bash","workspace":"/p"}
///   event  {"timestamp":"2026-01-11T10:00:00Z","kind":"tool_use","tool":"bash",
///           "metadata":{"workspace":"/p"}}
///
/// Members that mean nothing here are kept as they stand in `raw`, the text of `record`. Errors:
/// E_INVALID_QUERY with field. What the entry itself must have is for the engine to say.
Result<RecordLine> read_record(std::string_view type_name, JsonValue record, std::string_view raw,
                               Timestamp now, bool has_type) {
  BMAD_TRY_ASSIGN(const EntryType type, record_type_of(type_name));
  BMAD_TRY_ASSIGN(const Timestamp time, time_of(record, now));
  RecordLine line{.type = type, .id = std::string(record["id"].string()), .timestamp = time};
  const SpecifiedType* const specified = specified_type(type_name);
  BMAD_TRY(specified == nullptr ? Status() : check_specified(*specified, record));
  std::string metadata;
  std::string workspace;
  const std::vector<MemberText> raws = json_members(raw);
  auto text = raws.begin();
  for (const JsonMember& member : record.members()) {
    const auto& [key, value] = *text++;
    if (specified != nullptr && member.key == "workspace") {
      workspace = value;
    } else if (specified != nullptr && member.key == "metadata") {
      metadata = json_compact(value);
    } else if (!is_among(kReadMembers, member.key) && (!has_type || member.key != "type")) {
      line.json += fmt::format("\"{}\":{},", key, json_compact(value));
    }
  }
  line.json += fmt::format("\"timestamp\":\"{}\"", format_rfc3339(time));
  if (specified != nullptr) {
    line.json += fmt::format(",\"{}\":\"{}\"", specified->member, specified->value);
  }
  if (const std::string both = with_workspace(metadata, workspace); !both.empty()) {
    line.json += ",\"metadata\":" + both;
  }
  line.json = fmt::format("{{{}}}", line.json);
  return line;
}

/// The lines of the member "entries" of `body`, whose text is `raw`, all of type `type_name`.
/// Errors: as read_record(), with the number of the entry as line.
Result<std::vector<std::string>> read_batch(JsonValue body, std::string_view raw,
                                            std::string_view type_name, Timestamp now) {
  const JsonValue entries = body["entries"];
  if (!entries.is_array()) {
    return bad_argument("entries", "must be an array of objects");
  }
  const std::vector<MemberText> members = json_members(raw);
  const auto list = std::ranges::find(members, "entries", &MemberText::key);
  const std::vector<std::string_view> raws = json_elements(list->value);
  std::vector<std::string> lines;
  for (const JsonValue entry : entries.elements()) {
    const Error refused =
        entry.is_object()
            ? bad_argument("session_id", "it stands beside the entries, and not in each of them")
            : bad_argument("entries", fmt::format("an entry must be an object, not {}",
                                                  json_kind_name(entry.kind())));
    Result<RecordLine> record = !entry.is_object() || entry["session_id"].present()
                                    ? refused
                                    : read_record(type_name, entry, raws[lines.size()], now, false);
    if (!record) {
      Error error = std::move(record).error();
      error.line = lines.size() + 1;
      return error;
    }
    lines.push_back(std::move(record->json));
  }
  return lines;
}

/// Writes the lines into `session_id`, which is made when it isn't there, and chosen when empty.
Result<BatchReport> write_lines(MemoryManager& memory, std::string& session_id, EntryType type,
                                const std::vector<std::string>& lines) {
  if (session_id.empty()) {
    BMAD_TRY_ASSIGN(const UsualSession usual, memory.usual_session());
    session_id = usual.session_id;
  }
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  Result<BatchReport> report = memory.add_batch(session_id, type, views);
  if (report || report.error().code != ErrorCode::E_SESSION_NOT_FOUND) {
    return report;
  }
  Result<std::string> made = memory.create_session({.session_id = session_id});
  if (!made && made.error().code != ErrorCode::E_CONCURRENT_MOD) {  // Else another one made it.
    return std::move(made).error();
  }
  return memory.add_batch(session_id, type, views);
}

}  // namespace

Result<HttpResponse> http_add(ApiContext& context, const EndpointCall& call) {
  const JsonValue body = call.body();
  const JsonValue session = body["session_id"];
  if (!body["type"].is_string()) {
    return bad_argument("type", "is required: conversation, decision, prompt, tool_use …");
  }
  if (session.present() && session.string().empty()) {
    return bad_argument("session_id", "must be the id of a session; leave it out for the last one");
  }
  std::string session_id(session.string());
  BMAD_TRY_ASSIGN(RecordLine record, read_record(body["type"].string(), body, call.request().body,
                                                 call.now(), /*has_type=*/true));
  BMAD_TRY_ASSIGN(MemoryManager* const memory, memory_to_write(context, call));
  BMAD_TRY_ASSIGN(const BatchReport report,
                  write_lines(*memory, session_id, record.type, {std::move(record.json)}));
  // An entry that was purged before is not written again.
  return object_response("id", report.ids.empty() ? record.id : report.ids.front(), "session_id",
                         session_id, "type", entry_type_name(record.type), "timestamp",
                         record.timestamp, "notices", report.notices);
}

Result<HttpResponse> http_add_batch(ApiContext& context, const EndpointCall& call) {
  const std::string type_name = call.text("type");
  std::string session_id = call.text("session_id");
  BMAD_TRY_ASSIGN(const EntryType type, record_type_of(type_name));
  BMAD_TRY_ASSIGN(const std::vector<std::string> lines,
                  read_batch(call.body(), call.request().body, type_name, call.now()));
  BMAD_TRY_ASSIGN(MemoryManager* const memory, memory_to_write(context, call));
  BMAD_TRY_ASSIGN(const BatchReport report, write_lines(*memory, session_id, type, lines));
  return object_response("ids", report.ids, "session_id", session_id, "notices", report.notices);
}

Result<HttpResponse> http_edit(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const Entry entry, entry_to_change(context, call));
  BMAD_TRY_ASSIGN(const Entry now, context.memory.update_entry(entry.id, call.request().body,
                                                               {&entry.session_id, 1}));
  return object_response("entry", shaped(shape::entry, now));
}

Result<HttpResponse> http_link(ApiContext& context, const EndpointCall& call) {
  const LinkRequest request = read_link(call);
  BMAD_TRY_ASSIGN(const LinkReport report, context.memory.link(request));
  return object_response(shaped(shape::link_change, request, report), "entry",
                         shaped(shape::entry, report.entry));
}

}  // namespace bmad_mem::cli
