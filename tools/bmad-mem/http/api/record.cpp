// record.cpp - writing entries: one, many, a new version of one.
#include <string>
#include <utility>
#include <vector>

#include "http/api/shapes.hpp"
#include "http/api/record_line.hpp"
#include "http/endpoint.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

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
