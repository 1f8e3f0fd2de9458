// record.cpp - writing entries: one, many, a new version of one.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/utf8.hpp"
#include "cli/json_text.hpp"
#include "http/api/entry_filters.hpp"
#include "http/api/record_line.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "operation_calls.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// The session to write to when none is named: the open one that was written last; empty when none
/// is open.
Result<std::string> last_open_session(const MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const std::vector<Session> sessions, memory.list_sessions());
  const Session* last = nullptr;
  for (const Session& session : sessions) {
    if (!session.closed_at && !session.problem &&
        (last == nullptr || session.last_write >= last->last_write)) {
      last = &session;
    }
  }
  return last == nullptr ? std::string() : last->session_id;
}

/// Writes the lines into `session_id`, which is made when it isn't there, and chosen when empty.
Result<BatchReport> write_lines(MemoryManager& memory, std::string& session_id, EntryType type,
                                const std::vector<std::string>& lines) {
  if (session_id.empty()) {
    BMAD_TRY_ASSIGN(session_id, last_open_session(memory));
  }
  if (session_id.empty()) {
    BMAD_TRY_ASSIGN(session_id, memory.create_session({}));
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

Error bad_batch(std::string_view field, std::string message) {
  return {.code = ErrorCode::E_INVALID_QUERY,
          .message = std::move(message),
          .field = std::string(field)};
}

/// The entries of a batch as lines; all of one type.
Result<std::vector<std::string>> lines_of(JsonValue entries, std::string_view raw,
                                          const std::string& type_name, Timestamp now,
                                          EntryType& type) {
  const std::vector<std::string_view> raws = json_elements(raw);
  std::vector<std::string> lines;
  for (const JsonValue entry : entries.elements()) {
    const std::string_view text = raws[lines.size()];
    Result<RecordLine> record = read_batch_entry(entry, text, type_name, now);
    if (!record) {
      Error error = std::move(record).error();
      error.line = lines.size() + 1;
      return error;
    }
    type = record->type;
    lines.push_back(std::move(record->json));
  }
  return lines;
}

}  // namespace

Result<HttpResponse> http_add(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(RecordLine record, read_record(call.body(), call.request().body, call.now()));
  BMAD_TRY_ASSIGN(MemoryManager* const memory, memory_to_write(context, call));
  BMAD_TRY_ASSIGN(const BatchReport report,
                  write_lines(*memory, record.session_id, record.type, {std::move(record.json)}));
  // An entry that was purged before is not written again.
  return object_response("id", report.ids.empty() ? record.id : report.ids.front(), "session_id",
                         record.session_id, "type", entry_type_name(record.type), "timestamp",
                         record.timestamp, "notices", report.notices);
}

Result<HttpResponse> http_add_batch(ApiContext& context, const EndpointCall& call) {
  constexpr std::array<std::string_view, 3> kNames = {"session_id", "type", "entries"};
  std::string session_id;
  std::string type_name;
  std::string_view entries_raw;
  const std::vector<MemberText> raws = json_members(call.request().body);
  std::size_t i = 0;
  for (const JsonMember& member : call.body().members()) {
    const std::string_view raw = raws[i++].value;
    if (member.key == "entries" && member.value.is_array()) {
      entries_raw = raw;
    } else if (member.key == "entries" || !member.value.is_string()) {
      return bad_batch(utf8_prefix(member.key, 100), "entries is an array, the others are strings");
    } else if (member.key == "type") {
      type_name = member.value.string();
    } else if (member.key == "session_id") {
      session_id = member.value.string();
    } else if (std::ranges::find(kNames, member.key) == kNames.end()) {
      return bad_batch(utf8_prefix(member.key, 100),
                       "there is no such member; there are session_id, type, entries");
    }
  }
  if (type_name.empty() || entries_raw.empty()) {
    return bad_batch(type_name.empty() ? "type" : "entries", "it is required");
  }
  BMAD_TRY_ASSIGN(EntryType type, record_type_of(type_name));
  BMAD_TRY_ASSIGN(const std::vector<std::string> lines,
                  lines_of(call.body()["entries"], entries_raw, type_name, call.now(), type));
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
