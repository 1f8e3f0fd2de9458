// sessions.cpp - sessions as a whole: what there is, one in numbers, making, closing, archiving;
// and deleting them and entries, bringing these back, pinning them.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/json_copy.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "cli/json_text.hpp"
#include "http/api/entry_filters.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "operation_calls.hpp"

namespace bmad_mem::cli {
namespace {

void add_archived(JsonWriter& json, const std::vector<ArchivedSession>& archived) {
  add_array(json, "archived", archived, [&](const ArchivedSession& session) {
    json.begin_object().member("session_id", session.session_id);
    add_title(json, session);
    json.member("created_at", format_rfc3339(session.created_at));
    json.member("archived_at", format_rfc3339(session.archived_at));
    json.member("original_bytes", session.original_bytes);
    json.member("compressed_bytes", session.compressed_bytes).end_object();
  });
}

void add_statistics(JsonWriter& json, const SessionStatistics& statistics) {
  json.key("statistics").begin_object();
  add_array(json, "types", statistics.types, [&](const TypeStatistics& type) {
    json.begin_object().member("type", entry_type_name(type.type));
    json.member("entries", type.entries).member("versions", type.versions);
    json.member("sealed_lines", type.sealed_lines);
    json.member("damaged_lines", type.damaged_lines).member("bytes", type.bytes).end_object();
  });
  json.member("size_bytes", statistics.size_bytes);
  json.member("size_max_bytes", statistics.size_max_bytes);
  add_time(json, "oldest", statistics.oldest);
  add_time(json, "newest", statistics.newest);
  json.member("quarantined", statistics.quarantined).end_object();
}

/// What making and closing a session did by the way: nothing that entries lose goes untold.
void add_maintained(JsonWriter& json, MemoryManager& memory) {
  add_array(json, "maintained", memory.maintained_by_the_way(), write_action);
}

/// The member "metadata" as JSON; the memory says what is wrong with it. Empty without it.
std::string metadata_of(const ToolArguments& body) {
  const JsonValue metadata = body.value("metadata");
  return metadata.present() ? json_of(metadata) : std::string();
}

}  // namespace

Result<HttpResponse> http_session_list(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(std::vector<Session> sessions, context.memory.list_sessions());
  BMAD_TRY_ASSIGN(const std::vector<ArchivedSession> archived, context.memory.archived_sessions());
  std::ranges::stable_sort(sessions, std::ranges::greater(), &Session::last_write);
  const std::size_t begin =
      std::min(static_cast<std::size_t>(call.number("offset")), sessions.size());
  const auto limit = static_cast<std::size_t>(call.number("limit"));
  const std::size_t count = std::min(sessions.size() - begin, limit == 0 ? sessions.size() : limit);
  JsonWriter json;
  json.begin_object();
  add_array(json, "sessions", std::span(sessions).subspan(begin, count),
            [&](const Session& session) { write_session(json, context.memory, session); });
  add_archived(json, archived);
  json.member("total", std::uint64_t{sessions.size()});
  return object_response(json);
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
  params.title = body.text("title");
  params.metadata_json = metadata_of(body);
  BMAD_TRY_ASSIGN(const std::string id, context.memory.create_session(params));
  JsonWriter json;
  json.begin_object().member("session_id", id);
  add_maintained(json, context.memory);
  return object_response(json);
}

Result<HttpResponse> http_session_set(ApiContext& context, const EndpointCall& call) {
  const ToolArguments& body = call.arguments();
  SessionChange change;
  if (body.value("title").present()) {
    change.title = body.text("title");
  }
  change.metadata_json = metadata_of(body);
  if (!change.title && change.metadata_json.empty()) {
    return bad_argument("title", "is required, or metadata: what to change");
  }
  BMAD_TRY_ASSIGN(const Session session,
                  context.memory.update_session(call.in_path("session_id"), change));
  JsonWriter json;
  json.begin_object().member("session_id", session.session_id).key("session");
  write_session(json, context.memory, session);
  return object_response(json);
}

Result<HttpResponse> http_session_show(ApiContext& context, const EndpointCall& call) {
  const std::string_view id = call.in_path("session_id");
  BMAD_TRY_ASSIGN(const Session session, context.memory.load_session(id));
  BMAD_TRY_ASSIGN(const SessionStatistics statistics, context.memory.statistics(id));
  JsonWriter json;
  json.begin_object().key("session");
  write_session(json, context.memory, session, statistics.entries());
  add_statistics(json, statistics);
  json.key("manifest").raw(session.manifest);
  return object_response(json);
}

Result<HttpResponse> http_session_close(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const Session session, context.memory.close_session(call.in_path("session_id")));
  JsonWriter json;
  json.begin_object().member("session_id", session.session_id);
  add_time(json, "closed_at", session.closed_at);
  add_maintained(json, context.memory);
  return object_response(json);
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
  return object_response(json);
}

Result<HttpResponse> http_session_restore(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const Session session,
                  context.memory.restore_session(call.in_path("session_id")));
  JsonWriter json;
  json.begin_object().member("session_id", session.session_id).key("session");
  write_session(json, context.memory, session);
  return object_response(json);
}

namespace {

/// The entries as they are now: what a pin reports has the line and the versions from before.
Result<std::vector<Entry>> read_again(const MemoryManager& memory,
                                      const std::vector<Entry>& entries) {
  std::vector<Entry> out;
  for (const Entry& entry : entries) {
    BMAD_TRY_ASSIGN(std::vector<Entry> found, memory.get({&entry.id, 1}, {&entry.session_id, 1}));
    for (Entry& each : found) {
      if (each.type == entry.type) {
        out.push_back(std::move(each));
      }
    }
  }
  return out;
}

DeleteOptions delete_options(const EndpointCall& call) {
  return {.dry_run = call.flag("dry_run"), .purge = call.flag("purge")};
}

HttpResponse deletion_response(const DeletionReport& report, const DeleteOptions& options) {
  JsonWriter json;
  json.begin_object().member("deleted", report.entries);
  json.member("lines", std::uint64_t{report.removed.size()});
  json.member("dry_run", options.dry_run);
  add_time(json, "expires_at", report.expires_at);
  add_array(json, "elsewhere", report.elsewhere, [&](const FileCount& file) {
    json.begin_object().member("path", file.path).member("lines", file.lines).end_object();
  });
  add_list(json, "sessions_gone", report.sessions_gone);
  return object_response(json);
}

}  // namespace

Result<HttpResponse> http_delete(ApiContext& context, const EndpointCall& call) {
  DeletionCriteria criteria;
  criteria.ids = {std::string(call.in_path("id"))};
  criteria.sessions = call.texts("session_id");
  const DeleteOptions options = delete_options(call);
  BMAD_TRY_ASSIGN(const DeletionReport report, context.memory.delete_entries(criteria, options));
  if (report.removed.empty() && report.elsewhere.empty()) {
    return context.memory.no_entry(call.in_path("id"));
  }
  return deletion_response(report, options);
}

Result<HttpResponse> http_session_delete(ApiContext& context, const EndpointCall& call) {
  const DeleteOptions options = delete_options(call);
  BMAD_TRY_ASSIGN(const DeletionReport report,
                  context.memory.delete_session(call.in_path("session_id"), options));
  return deletion_response(report, options);
}

Result<HttpResponse> http_undelete(ApiContext& context, const EndpointCall& call) {
  const ToolArguments& body = call.arguments();
  const UndeleteCriteria criteria = {.ids = body.texts("ids"), .sessions = body.texts("sessions")};
  if (criteria.ids.empty() && criteria.sessions.empty()) {
    return bad_argument("ids", "is required, or sessions: what to bring back");
  }
  BMAD_TRY_ASSIGN(const UndeleteReport report, context.memory.undelete(criteria));
  if (report.lines == 0 && report.sessions.empty() && report.left_behind.empty()) {
    return Error{.code = criteria.ids.empty() ? ErrorCode::E_SESSION_NOT_FOUND
                                              : ErrorCode::E_ENTRY_NOT_FOUND,
                 .message = "there is no deletion of that name, or it was purged",
                 .field = criteria.ids.empty() ? "sessions" : "ids"};
  }
  JsonWriter json;
  json.begin_object().member("lines", report.lines);
  add_list(json, "sessions", report.sessions);
  add_list(json, "left_behind", report.left_behind);
  return object_response(json);
}

Result<HttpResponse> http_pin(ApiContext& context, const EndpointCall& call) {
  const ToolArguments& body = call.arguments();
  std::vector<std::string> ids = body.texts("ids");
  if (std::string id = body.text("id"); !id.empty()) {
    ids.push_back(std::move(id));
  }
  if (ids.empty()) {
    return bad_argument("id", "is required, or ids: which entries");
  }
  const bool pinned = body.boolean("pinned");
  std::vector<std::string> sessions;
  if (std::string session = body.text("session_id"); !session.empty()) {
    sessions.push_back(std::move(session));
  }
  BMAD_TRY_ASSIGN(const PinReport report, context.memory.pin(ids, pinned, sessions));
  if (report.changed.empty() && report.unchanged.empty()) {
    return context.memory.no_entry(ids.front());
  }
  BMAD_TRY_ASSIGN(const std::vector<Entry> changed, read_again(context.memory, report.changed));
  JsonWriter json;
  json.begin_object();
  add_array(json, "changed", changed, write_entry);
  add_array(json, "unchanged", report.unchanged, write_entry);
  add_list(json, "unknown_ids", report.unknown_ids);
  return object_response(json);
}

}  // namespace bmad_mem::cli
