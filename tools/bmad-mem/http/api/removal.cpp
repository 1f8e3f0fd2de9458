// removal.cpp - deleting entries and bringing them back, pinning them.
#include "http/api/removal.hpp"

#include <string>
#include <vector>

#include "bmad_mem/rfc3339.hpp"
#include "cli/json_text.hpp"
#include "http/api/lookup.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "operation_calls.hpp"

namespace bmad_mem::cli {
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

}  // namespace

DeleteOptions delete_options(const EndpointCall& call) {
  return {.dry_run = call.flag("dry_run"), .purge = call.flag("purge")};
}

HttpResponse deletion_response(const DeletionReport& report, const DeleteOptions& options) {
  JsonWriter json;
  json.begin_object().member("deleted", report.entries);
  json.member("lines", std::uint64_t{report.removed.size()});
  json.member("dry_run", options.dry_run);
  add_time(json, "expires_at", report.expires_at);
  json.key("elsewhere").begin_array();
  for (const FileCount& file : report.elsewhere) {
    json.begin_object().member("path", file.path).member("lines", file.lines).end_object();
  }
  json.end_array();
  add_list(json, "sessions_gone", report.sessions_gone);
  json.end_object();
  return json_response(json.take());
}

Result<HttpResponse> http_delete(ApiContext& context, const EndpointCall& call) {
  DeletionCriteria criteria;
  criteria.ids = {std::string(call.in_path("id"))};
  criteria.sessions = named_session(call);
  const DeleteOptions options = delete_options(call);
  BMAD_TRY_ASSIGN(const DeletionReport report, context.memory.delete_entries(criteria, options));
  if (report.removed.empty() && report.elsewhere.empty()) {
    return no_such_entry(call.in_path("id"));
  }
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
    return Error{.code = ErrorCode::E_SESSION_NOT_FOUND,
                 .message = "nothing of that name is deleted, or it was purged",
                 .field = criteria.ids.empty() ? "sessions" : "ids"};
  }
  JsonWriter json;
  json.begin_object().member("lines", report.lines);
  add_list(json, "sessions", report.sessions);
  add_list(json, "left_behind", report.left_behind);
  json.end_object();
  return json_response(json.take());
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
    return no_such_entry(ids.front());
  }
  BMAD_TRY_ASSIGN(const std::vector<Entry> changed, read_again(context.memory, report.changed));
  JsonWriter json;
  json.begin_object();
  add_entries(json, "changed", changed);
  add_entries(json, "unchanged", report.unchanged);
  add_list(json, "unknown_ids", report.unknown_ids);
  json.end_object();
  return json_response(json.take());
}

}  // namespace bmad_mem::cli
