// health.cpp - a memory in numbers, and care for it: what there is, how it ages, what is due, which
// settings hold; verifying, compacting, purging, maintenance, and who did what.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/settings.hpp"
#include "cli/json_text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// How many of the entries that go a compaction shows.
constexpr std::size_t kExamplesMax = 20;

RawJson compaction_json(const CompactionReport& report) {
  const std::span examples =
      std::span(report.removed).first(std::min(report.removed.size(), kExamplesMax));
  return raw_object(shaped(shape::compaction, report, examples));
}

}  // namespace

Result<HttpResponse> http_verify(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const VerifyReport report, context.memory.verify(call.texts("session_id")));
  return object_response(shaped(shape::verify, report));
}

Result<HttpResponse> http_audit(ApiContext& context, const EndpointCall& call) {
  const AuditFilter filter{.sessions = call.texts("session_id"),
                           .actions = call.texts("action"),
                           .since = call.time("since"),
                           .until = call.time("until"),
                           .limit = call.count("limit"),
                           .offset = call.count("offset")};
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
  std::uint64_t lines = sum_of(due, &Deletion::entries);
  if (!dry_run) {
    BMAD_TRY_ASSIGN(const DeletionReport report, context.memory.purge_deleted(all));
    lines = report.removed.size() + sum_of(report.elsewhere, &FileCount::lines);
  }
  return object_response("dry_run", dry_run, "deletions", shaped(shape::deletion, due), "lines",
                         lines);
}

Result<HttpResponse> http_maintain(ApiContext& context, const EndpointCall& call) {
  const bool dry_run = call.boolean("dry_run");
  BMAD_TRY_ASSIGN(const MaintenanceReport report, context.memory.maintain({.dry_run = dry_run}));
  return object_response(shaped(shape::maintenance, report, dry_run));
}

namespace {

constexpr std::size_t kLargestMax = 10;

std::vector<SessionStatistics> largest_of(GlobalStatistics statistics) {
  std::ranges::stable_sort(statistics.sessions, std::ranges::greater(),
                           &SessionStatistics::size_bytes);
  statistics.sessions.resize(std::min(statistics.sessions.size(), kLargestMax));
  return std::move(statistics.sessions);
}

/// What the files know of the hub; nothing without one.
std::optional<RawJson> hub_json(const MemoryManager& memory) {
  const Result<MirrorReport> mirror = mirror_report(memory);
  const Result<std::uint64_t> waiting =
      mirror ? sessions_to_push(memory) : Result<std::uint64_t>(mirror.error());
  return waiting ? std::optional(raw_object(shaped(shape::hub_state, *mirror, *waiting)))
                 : std::nullopt;
}

}  // namespace

Result<HttpResponse> http_stats(ApiContext& context, const EndpointCall& /*call*/) {
  BMAD_TRY_ASSIGN(const GlobalStatistics statistics, context.memory.global_statistics());
  BMAD_TRY_ASSIGN(const std::vector<Session> sessions, context.memory.list_sessions());
  std::map<std::string_view, std::string_view> states;
  for (const Session& session : sessions) {
    states[session.session_id] =
        session.problem ? "damaged" : session_state_name(context.memory.session_state(session));
  }
  const Totals totals = totals_of(statistics);
  const auto state = [&](const SessionStatistics& session) {
    const auto known = states.find(session.session_id);
    return known == states.end() ? "active" : known->second;
  };
  return object_response(
      "sessions", statistics.sessions.size(), "entries", totals.entries, "size_bytes",
      totals.size_bytes, "size_max_bytes",
      statistics.sessions.empty() ? 0 : statistics.sessions.front().size_max_bytes, "types",
      all_by_type(totals.types), "encrypted_lines", encrypted_lines(context.memory), "by_session",
      shaped(shape::session_counts, statistics.sessions, state), "problems", statistics.problems);
}

Result<HttpResponse> http_decay(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const std::vector<DecayReport> reports,
                  context.memory.decay(call.texts("session_id"), call.time("as_of")));
  return object_response("sessions", shaped(shape::session_decay, reports), "curve",
                         object_of("ages_days", kDecayTableAges, "lines",
                                   shaped(shape::decay_curve_line, context.memory.decay_table())));
}

Result<HttpResponse> http_settings(ApiContext& context, const EndpointCall& /*call*/) {
  // As config.json says now: this process keeps what it has read when it started.
  BMAD_TRY_ASSIGN(const MemoryManager now,
                  MemoryManager::open({.root = std::string(context.memory.root()),
                                       .state_folder = trusting_folder()}));
  const std::string effective = json_compact(effective_settings(now));
  std::vector<std::string> warnings = now.config_warnings();
  std::ranges::move(rule_warnings(context.memory), std::back_inserter(warnings));
  return object_response("settings", raw_json(effective), "root", context.memory.root(), "warnings",
                         warnings, "version", tool_version());
}

Result<HttpResponse> http_health(ApiContext& context, const EndpointCall& /*call*/) {
  BMAD_TRY_ASSIGN(const GlobalStatistics statistics, context.memory.global_statistics());
  BMAD_TRY_ASSIGN(const PrivacyReport privacy, context.memory.privacy_report());
  BMAD_TRY_ASSIGN(const std::vector<LockHolder> locks, list_lock_holders(context.memory));
  Result<MaintenanceReport> maintenance = context.memory.maintain({.dry_run = true});
  if (!maintenance) {  // A bad schedule must not hide all the rest.
    maintenance =
        MaintenanceReport{.problems = {maintenance.error()}, .next_due = Timestamp::max()};
  }
  std::vector<Error> problems = statistics.problems;
  problems.insert(problems.end(), privacy.problems.begin(), privacy.problems.end());
  const Totals totals = totals_of(statistics);
  return object_response(
      "root", context.memory.root(), "version", tool_version(), "sessions",
      statistics.sessions.size(), "archived_sessions", privacy.archived_sessions, "entries",
      totals.entries, "size_bytes", totals.size_bytes, "over_trigger",
      std::ranges::count_if(statistics.sessions, &SessionStatistics::is_over_trigger), "largest",
      shaped(shape::session_size, largest_of(statistics)), "locks", shaped(shape::lock, locks),
      "hub", hub_json(context.memory), "maintenance",
      shaped(shape::health_maintenance, *maintenance), "retention",
      shaped(shape::kept, privacy.kept), "redacted", privacy.redacted, "redacts", privacy.redacts,
      "deletions", shaped(shape::deletion, privacy.deleted), "evicted_entries",
      privacy.evicted_entries, "problems", problems);
}

}  // namespace bmad_mem::cli
