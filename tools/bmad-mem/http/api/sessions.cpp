// sessions.cpp - sessions as a whole: what there is, one in numbers, making, closing, archiving;
// and deleting them and entries, bringing these back, pinning them.
#include <algorithm>
#include <ranges>
#include <string>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// The member "metadata" as JSON; the memory says what is wrong with it. Empty without it.
std::string metadata_of(const EndpointCall& call) {
  const JsonValue metadata = call.value("metadata");
  return metadata.present() ? json_of(metadata) : std::string();
}

}  // namespace

Result<HttpResponse> http_session_list(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(std::vector<Session> sessions, context.memory.list_sessions());
  BMAD_TRY_ASSIGN(const std::vector<ArchivedSession> archived, context.memory.archived_sessions());
  std::ranges::stable_sort(sessions, std::ranges::greater(), &Session::last_write);
  const auto shown = [&](const Session& session) { return session_json(context.memory, session); };
  return object_response("sessions", page_of(call).of(sessions) | std::views::transform(shown),
                         "archived", shaped(shape::archived_session, archived), "total",
                         sessions.size());
}

Result<HttpResponse> http_session_new(ApiContext& context, const EndpointCall& call) {
  SessionParams params;
  params.session_id = call.text("session_id");
  params.user_id = call.text("user_id");
  params.agent_ids = call.texts("agent_ids");
  params.project_name = call.text("project_name");
  params.session_type = call.text("session_type");
  params.tags = call.texts("tags");
  params.title = call.text("title");
  params.metadata_json = metadata_of(call);
  BMAD_TRY_ASSIGN(const std::string id, context.memory.create_session(params));
  return object_response("session_id", id, "maintained",
                         shaped(shape::any_action, context.memory.maintained_by_the_way()));
}

Result<HttpResponse> http_session_set(ApiContext& context, const EndpointCall& call) {
  SessionChange change;
  if (call.value("title").present()) {
    change.title = call.text("title");
  }
  change.metadata_json = metadata_of(call);
  if (!change.title && change.metadata_json.empty()) {
    return bad_argument("title", "is required, or metadata: what to change");
  }
  BMAD_TRY_ASSIGN(const Session session,
                  context.memory.update_session(call.in_path("session_id"), change));
  return object_response("session_id", session.session_id, "session",
                         session_json(context.memory, session));
}

Result<HttpResponse> http_session_show(ApiContext& context, const EndpointCall& call) {
  const std::string_view id = call.in_path("session_id");
  BMAD_TRY_ASSIGN(const Session session, context.memory.load_session(id));
  BMAD_TRY_ASSIGN(const SessionStatistics statistics, context.memory.statistics(id));
  return object_response("session", session_json(context.memory, session, statistics.entries()),
                         "statistics", shaped(shape::statistics_of_session, statistics), "manifest",
                         raw_json(session.manifest));
}

Result<HttpResponse> http_session_close(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const Session session, context.memory.close_session(call.in_path("session_id")));
  return object_response("session_id", session.session_id, "closed_at", session.closed_at,
                         "maintained",
                         shaped(shape::any_action, context.memory.maintained_by_the_way()));
}

Result<HttpResponse> http_session_archive(ApiContext& context, const EndpointCall& call) {
  const ArchiveOptions options = {.dry_run = call.boolean("dry_run")};
  BMAD_TRY_ASSIGN(const ArchiveReport report,
                  context.memory.archive_session(call.in_path("session_id"), options));
  return object_response(shaped(shape::archive_report, report, options.dry_run));
}

Result<HttpResponse> http_session_restore(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const Session session,
                  context.memory.restore_session(call.in_path("session_id")));
  return object_response("session_id", session.session_id, "session",
                         session_json(context.memory, session));
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
  return {.dry_run = call.boolean("dry_run"), .purge = call.boolean("purge")};
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
  return object_response(shaped(shape::deletion_report, report, options.dry_run));
}

Result<HttpResponse> http_session_delete(ApiContext& context, const EndpointCall& call) {
  const DeleteOptions options = delete_options(call);
  BMAD_TRY_ASSIGN(const DeletionReport report,
                  context.memory.delete_session(call.in_path("session_id"), options));
  return object_response(shaped(shape::deletion_report, report, options.dry_run));
}

Result<HttpResponse> http_undelete(ApiContext& context, const EndpointCall& call) {
  const UndeleteCriteria criteria = {.ids = call.texts("ids"), .sessions = call.texts("sessions")};
  if (criteria.ids.empty() && criteria.sessions.empty()) {
    return bad_argument("ids", "is required, or sessions: what to bring back");
  }
  BMAD_TRY_ASSIGN(const UndeleteReport report, context.memory.undelete(criteria));
  if (report.lines == 0 && report.sessions.empty() && report.left_behind.empty()) {
    return field_error(
        criteria.ids.empty() ? ErrorCode::E_SESSION_NOT_FOUND : ErrorCode::E_ENTRY_NOT_FOUND,
        criteria.ids.empty() ? "sessions" : "ids",
        "there is no deletion of that name, or it was purged");
  }
  return object_response(shaped(shape::undelete, report));
}

Result<HttpResponse> http_pin(ApiContext& context, const EndpointCall& call) {
  std::vector<std::string> ids = call.texts("ids");
  if (std::string id = call.text("id"); !id.empty()) {
    ids.push_back(std::move(id));
  }
  if (ids.empty()) {
    return bad_argument("id", "is required, or ids: which entries");
  }
  const bool pinned = call.boolean("pinned");
  BMAD_TRY_ASSIGN(const PinReport report,
                  context.memory.pin(ids, pinned, call.listed("session_id")));
  if (report.changed.empty() && report.unchanged.empty()) {
    return context.memory.no_entry(ids.front());
  }
  BMAD_TRY_ASSIGN(const std::vector<Entry> changed, read_again(context.memory, report.changed));
  return object_response("changed", shaped(shape::entry, changed), "unchanged",
                         shaped(shape::entry, report.unchanged), "unknown_ids", report.unknown_ids);
}

}  // namespace bmad_mem::cli
