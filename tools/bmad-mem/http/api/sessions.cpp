// sessions.cpp - sessions as a whole: what there is, one in numbers, making, closing, archiving.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/rfc3339.hpp"
#include "http/api/removal.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "operation_calls.hpp"

namespace bmad_mem::cli {
namespace {

void add_archived(JsonWriter& json, const std::vector<ArchivedSession>& archived) {
  json.key("archived").begin_array();
  for (const ArchivedSession& session : archived) {
    json.begin_object().member("session_id", session.session_id);
    json.member("created_at", format_rfc3339(session.created_at));
    json.member("archived_at", format_rfc3339(session.archived_at));
    json.member("original_bytes", session.original_bytes);
    json.member("compressed_bytes", session.compressed_bytes).end_object();
  }
  json.end_array();
}

void add_statistics(JsonWriter& json, const SessionStatistics& statistics) {
  json.key("statistics").begin_object().key("types").begin_array();
  for (const TypeStatistics& type : statistics.types) {
    json.begin_object().member("type", entry_type_name(type.type));
    json.member("entries", type.entries).member("versions", type.versions);
    json.member("damaged_lines", type.damaged_lines).member("bytes", type.bytes).end_object();
  }
  json.end_array().member("size_bytes", statistics.size_bytes);
  json.member("size_max_bytes", statistics.size_max_bytes);
  add_time(json, "oldest", statistics.oldest);
  add_time(json, "newest", statistics.newest);
  json.member("quarantined", statistics.quarantined).end_object();
}

/// What making and closing a session did by the way: nothing that entries lose goes untold.
void add_maintained(JsonWriter& json, MemoryManager& memory) {
  json.key("maintained").begin_array();
  for (const MaintenanceAction& action : memory.maintained_by_the_way()) {
    write_action(json, action);
  }
  json.end_array();
}

}  // namespace

Result<HttpResponse> http_session_list(ApiContext& context, const EndpointCall& /*call*/) {
  BMAD_TRY_ASSIGN(std::vector<Session> sessions, context.memory.list_sessions());
  BMAD_TRY_ASSIGN(const std::vector<ArchivedSession> archived, context.memory.archived_sessions());
  std::ranges::stable_sort(sessions, std::ranges::greater(), &Session::last_write);
  JsonWriter json;
  json.begin_object().key("sessions").begin_array();
  for (const Session& session : sessions) {
    write_session(json, context.memory, session);
  }
  json.end_array();
  add_archived(json, archived);
  json.end_object();
  return json_response(json.take());
}

Result<HttpResponse> http_session_new(ApiContext& context, const EndpointCall& call) {
  const ToolArguments& body = call.arguments();
  SessionParams params;
  params.session_id = body.text("session_id");
  params.user_id = body.text("user_id");
  params.agent_ids = body.texts("agent_ids");
  params.project_name = body.text("project_name");
  params.session_type = body.text("session_type");
  params.tags = body.texts("tags");
  BMAD_TRY_ASSIGN(const std::string id, context.memory.create_session(params));
  JsonWriter json;
  json.begin_object().member("session_id", id);
  add_maintained(json, context.memory);
  json.end_object();
  return json_response(json.take());
}

Result<HttpResponse> http_session_show(ApiContext& context, const EndpointCall& call) {
  const std::string_view id = call.in_path("session_id");
  BMAD_TRY_ASSIGN(const Session session, context.memory.load_session(id));
  BMAD_TRY_ASSIGN(const SessionStatistics statistics, context.memory.statistics(id));
  JsonWriter json;
  json.begin_object().key("session");
  write_session(json, context.memory, session, statistics.entries());
  add_statistics(json, statistics);
  json.key("manifest").raw(session.manifest).end_object();
  return json_response(json.take());
}

Result<HttpResponse> http_session_close(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const Session session, context.memory.close_session(call.in_path("session_id")));
  JsonWriter json;
  json.begin_object().member("session_id", session.session_id);
  add_time(json, "closed_at", session.closed_at);
  add_maintained(json, context.memory);
  json.end_object();
  return json_response(json.take());
}

Result<HttpResponse> http_session_archive(ApiContext& context, const EndpointCall& call) {
  const ToolArguments& body = call.arguments();
  const ArchiveOptions options = {.dry_run = body.boolean("dry_run")};
  BMAD_TRY_ASSIGN(const ArchiveReport report,
                  context.memory.archive_session(call.in_path("session_id"), options));
  JsonWriter json;
  json.begin_object().member("dry_run", options.dry_run);
  json.member("session_id", report.session_id).member("path", report.path);
  json.member("files", report.files).member("original_bytes", report.original_bytes);
  json.member("compressed_bytes", report.compressed_bytes).member("kept", report.kept);
  json.end_object();
  return json_response(json.take());
}

Result<HttpResponse> http_session_restore(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const Session session,
                  context.memory.restore_session(call.in_path("session_id")));
  JsonWriter json;
  json.begin_object().member("session_id", session.session_id).key("session");
  write_session(json, context.memory, session);
  json.end_object();
  return json_response(json.take());
}

Result<HttpResponse> http_session_delete(ApiContext& context, const EndpointCall& call) {
  const DeleteOptions options = delete_options(call);
  BMAD_TRY_ASSIGN(const DeletionReport report,
                  context.memory.delete_session(call.in_path("session_id"), options));
  return deletion_response(report, options);
}

}  // namespace bmad_mem::cli
