// lifecycle.cpp - care for a memory: verifying, compacting, purging, maintenance, and who did what.
#include "bmad_mem/lifecycle.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "operation_calls.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// How many of the entries that go a compaction shows.
constexpr std::size_t kExamplesMax = 20;

RawJson compaction_json(const CompactionReport& report) {
  const std::span examples =
      std::span(report.removed).first(std::min(report.removed.size(), kExamplesMax));
  return raw_json(json_object(shaped(shape::compaction, report, examples)));
}

}  // namespace

Result<HttpResponse> http_verify(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const VerifyReport report, context.memory.verify(call.texts("session_id")));
  return object_response(shaped(shape::verify, report));
}

Result<HttpResponse> http_audit(ApiContext& context, const EndpointCall& call) {
  AuditFilter filter;
  filter.sessions = call.texts("session_id");
  filter.actions = call.texts("action");
  filter.since = call.time("since");
  filter.until = call.time("until");
  filter.limit = call.count("limit");
  filter.offset = call.count("offset");
  BMAD_TRY_ASSIGN(std::vector<AuditRecord> records, context.memory.audit(filter));
  std::ranges::reverse(records);
  return object_response("records", shaped(shape::audit_record, records));
}

Result<HttpResponse> http_compact(ApiContext& context, const EndpointCall& call) {
  std::vector<std::string> sessions = call.listed("session_id");
  const CompactOptions options = {.dry_run = call.boolean("dry_run"),
                                  .keep_share = call.share("keep_share"),
                                  .force = call.boolean("force")};
  if (sessions.empty()) {
    BMAD_TRY_ASSIGN(const std::vector<Session> all, context.memory.list_sessions());
    for (const Session& session : all) {
      if (!session.problem) {  // GET /memory/verify names the others.
        sessions.push_back(session.session_id);
      }
    }
  }
  std::vector<RawJson> reports;
  for (const std::string& session : sessions) {
    BMAD_TRY_ASSIGN(const CompactionReport report, context.memory.compact(session, options));
    reports.push_back(compaction_json(report));
  }
  return object_response("dry_run", options.dry_run, "sessions", reports);
}

Result<HttpResponse> http_purge(ApiContext& context, const EndpointCall& call) {
  const bool all = call.boolean("all");
  const bool dry_run = call.boolean("dry_run");
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
  return object_response("dry_run", dry_run, "deletions", shaped(shape::deletion, due), "lines",
                         lines);
}

Result<HttpResponse> http_maintain(ApiContext& context, const EndpointCall& call) {
  const bool dry_run = call.boolean("dry_run");
  BMAD_TRY_ASSIGN(const MaintenanceReport report, context.memory.maintain({.dry_run = dry_run}));
  return object_response(shaped(shape::maintenance, report, dry_run));
}

}  // namespace bmad_mem::cli
