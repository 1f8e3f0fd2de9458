// lifecycle.cpp - care for a memory: verifying, compacting, purging, maintenance, and who did what.
#include "bmad_mem/lifecycle.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/rfc3339.hpp"
#include "cli/json_text.hpp"
#include "http/api/entry_filters.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "operation_calls.hpp"

namespace bmad_mem::cli {
namespace {

/// How many of the entries that go a compaction shows.
constexpr std::size_t kExamplesMax = 20;

void add_findings(JsonWriter& json, std::string_view name, std::span<const Finding> findings) {
  add_array(json, name, findings, [&](const Finding& finding) {
    json.begin_object().member("kind", finding_kind_name(finding.kind));
    json.member("session_id", finding.session_id).member("path", finding.path);
    json.member("line", finding.line).member("column", finding.column);
    json.member("field", finding.field).member("reason", finding.reason).end_object();
  });
}

void add_compaction(JsonWriter& json, const CompactionReport& report) {
  json.begin_object().member("session_id", report.session_id);
  json.member("removed", std::uint64_t{report.removed.size()});
  json.member("superseded", report.superseded).member("duplicates", report.duplicates);
  json.member("folded", report.folded)
      .member("evicted", report.evicted)
      .member("statements", report.statements)
      .member("entries_before", report.entries_before);
  json.member("entries_after", report.entries_after);
  json.member("bytes_before", report.bytes_before).member("bytes_after", report.bytes_after);
  json.member("trigger_bytes", report.trigger_bytes);
  json.member("below_trigger", report.below_trigger);
  json.member("force_evicts", report.force_evicts).member("force_bytes", report.force_bytes);
  const std::size_t shown = std::min(report.removed.size(), kExamplesMax);
  add_array(
      json, "examples", std::span(report.removed).first(shown), [&](const RemovedEntry& entry) {
        json.begin_object().member("id", entry.id).member("type", entry_type_name(entry.type));
        json.member("reason", entry.reason).member("headline", entry.headline).end_object();
      });
  json.end_object();
}

}  // namespace

Result<HttpResponse> http_verify(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const VerifyReport report, context.memory.verify(call.texts("session_id")));
  JsonWriter json;
  json.begin_object();
  add_findings(json, "findings", report.findings);
  add_findings(json, "changes", report.changes);
  json.member("sessions", report.sessions).member("logs", report.logs);
  json.member("lines", report.lines).member("bytes", report.bytes);
  return object_response(json);
}

Result<HttpResponse> http_audit(ApiContext& context, const EndpointCall& call) {
  AuditFilter filter;
  filter.sessions = call.texts("session_id");
  filter.actions = call.texts("action");
  filter.since = call.time("since");
  filter.until = call.time("until");
  filter.limit = static_cast<std::size_t>(call.number("limit"));
  filter.offset = static_cast<std::size_t>(call.number("offset"));
  BMAD_TRY_ASSIGN(std::vector<AuditRecord> records, context.memory.audit(filter));
  std::ranges::reverse(records);
  JsonWriter json;
  json.begin_object();
  add_array(json, "records", records, [&](const AuditRecord& record) {
    json.begin_object().member("at", format_rfc3339(record.at));
    json.member("session_id", record.session_id).member("agent_id", record.agent_id);
    json.member("action", record.action).member("count", record.count);
    add_list(json, "ids", record.ids);
    json.member("detail", record.detail).end_object();
  });
  return object_response(json);
}

Result<HttpResponse> http_compact(ApiContext& context, const EndpointCall& call) {
  const ToolArguments& body = call.arguments();
  std::vector<std::string> sessions;
  if (std::string session = body.text("session_id"); !session.empty()) {
    sessions.push_back(std::move(session));
  }
  const CompactOptions options = {.dry_run = body.boolean("dry_run"),
                                  .keep_share = body.share("keep_share"),
                                  .force = body.boolean("force")};
  if (sessions.empty()) {
    BMAD_TRY_ASSIGN(const std::vector<Session> all, context.memory.list_sessions());
    for (const Session& session : all) {
      if (!session.problem) {  // GET /memory/verify names the others.
        sessions.push_back(session.session_id);
      }
    }
  }
  JsonWriter json;
  json.begin_object().member("dry_run", options.dry_run).key("sessions").begin_array();
  for (const std::string& session : sessions) {
    BMAD_TRY_ASSIGN(const CompactionReport report, context.memory.compact(session, options));
    add_compaction(json, report);
  }
  json.end_array();
  return object_response(json);
}

Result<HttpResponse> http_purge(ApiContext& context, const EndpointCall& call) {
  const ToolArguments& body = call.arguments();
  const bool all = body.boolean("all");
  const bool dry_run = body.boolean("dry_run");
  BMAD_TRY_ASSIGN(std::vector<Deletion> due, context.memory.deletions());
  std::erase_if(due, [&](const Deletion& each) { return !all && each.expires_at > call.now(); });
  std::uint64_t lines = 0;
  for (const Deletion& each : due) {
    lines += each.entries;
  }
  if (!dry_run) {
    BMAD_TRY_ASSIGN(const DeletionReport report, context.memory.purge_deleted(all));
    lines = report.removed.size();
    for (const FileCount& file : report.elsewhere) {
      lines += file.lines;
    }
  }
  JsonWriter json;
  json.begin_object().member("dry_run", dry_run);
  add_array(json, "deletions", due, write_deletion);
  json.member("lines", lines);
  return object_response(json);
}

Result<HttpResponse> http_maintain(ApiContext& context, const EndpointCall& call) {
  const ToolArguments& body = call.arguments();
  const bool dry_run = body.boolean("dry_run");
  BMAD_TRY_ASSIGN(const MaintenanceReport report, context.memory.maintain({.dry_run = dry_run}));
  JsonWriter json;
  json.begin_object().member("dry_run", dry_run);
  add_array(json, "done", report.done, write_action);
  add_array(json, "problems", report.problems, write_error);
  add_next_due(json, report.next_due);
  json.member("held_back", report.held_back);
  return object_response(json);
}

}  // namespace bmad_mem::cli
