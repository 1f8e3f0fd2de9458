// health.cpp - a memory in numbers: what there is, how it ages, what is due, which settings hold.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/locks.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/settings.hpp"
#include "cli/json_text.hpp"
#include "cli/rule_warnings.hpp"
#include "cli/tool.hpp"
#include "cli/totals.hpp"
#include "cli/views.hpp"
#include "http/api/entry_filters.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "operation_calls.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kLargestMax = 10;

void add_decay_curve(JsonWriter& json, const std::vector<DecayTableLine>& lines) {
  json.key("curve").begin_object();
  add_array(json, "ages_days", kDecayTableAges, [&](const int age) { json.integer(age); });
  add_array(json, "lines", lines, [&](const DecayTableLine& line) {
    json.begin_object().member("model", line.model).member("is_used", line.is_used);
    json.member("type", entry_type_name(line.type));
    add_array(json, "factors", line.factors, [&](const double factor) { json.real(factor); });
    json.end_object();
  });
  json.end_object();
}

void add_largest(JsonWriter& json, GlobalStatistics statistics) {
  std::ranges::stable_sort(statistics.sessions, std::ranges::greater(),
                           &SessionStatistics::size_bytes);
  const std::size_t shown = std::min(statistics.sessions.size(), kLargestMax);
  add_array(json, "largest", std::span(statistics.sessions).first(shown),
            [&](const SessionStatistics& session) {
              json.begin_object().member("session_id", session.session_id);
              json.member("size_bytes", session.size_bytes);
              json.member("size_max_bytes", session.size_max_bytes);
              json.member("entries", session.entries()).end_object();
            });
}

void add_locks(JsonWriter& json, const std::vector<LockHolder>& holders) {
  add_array(json, "locks", holders, [&](const LockHolder& holder) {
    json.begin_object().member("session_id", holder.session_id);
    json.member("pid", static_cast<std::int64_t>(holder.pid)).member("host", holder.host);
    json.member("agent_id", holder.agent_id).member("operation", holder.operation);
    add_time(json, "acquired_at", holder.acquired_at);
    // The kernel drops the locks of the dead: who still holds one lives.
    json.member("alive", true).end_object();
  });
}

/// What the files know of the hub; nothing without one.
void add_hub(JsonWriter& json, const MemoryManager& memory) {
  const Result<MirrorReport> mirror = mirror_report(memory);
  const Result<std::uint64_t> waiting =
      mirror ? sessions_to_push(memory) : Result<std::uint64_t>(mirror.error());
  if (waiting) {
    json.key("hub").begin_object().member("service", mirror->service);
    json.member("project", mirror->project).member("cursor", mirror->cursor);
    json.member("sessions_to_push", *waiting).end_object();
  }
}

void add_maintenance(JsonWriter& json, const MaintenanceReport& report) {
  json.key("maintenance").begin_object();
  add_next_due(json, report.next_due);
  add_array(json, "due", report.done, write_action);
  add_array(json, "problems", report.problems, write_error);
  json.member("held_back", report.held_back).end_object();
}

void add_privacy(JsonWriter& json, const PrivacyReport& report) {
  add_array(json, "retention", report.kept, [&](const KeptEntries& kept) {
    json.begin_object().member("type", entry_type_name(kept.type));
    json.member("entries", kept.entries).member("bytes", kept.bytes);
    json.member("sensitive", kept.sensitive);
    add_time(json, "oldest", kept.oldest);
    json.member("retention_days", kept.retention_days).member("expired", kept.expired);
    json.member("archived", kept.archived).member("evicted", kept.evicted);
    json.end_object();
  });
  add_counts(json, "redacted", report.redacted);
  json.member("redacts", report.redacts);
  add_array(json, "deletions", report.deleted, write_deletion);
  json.member("evicted_entries", report.evicted_entries);
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
  JsonWriter json;
  json.begin_object().member("sessions", std::uint64_t{statistics.sessions.size()});
  json.member("entries", totals.entries).member("size_bytes", totals.size_bytes);
  json.member("size_max_bytes",
              statistics.sessions.empty() ? 0 : statistics.sessions.front().size_max_bytes);
  json.key("types");
  write_type_counts(json, totals.types);
  add_sealed_lines(json, context.memory);
  add_array(json, "by_session", statistics.sessions, [&](const SessionStatistics& session) {
    const auto state = states.find(session.session_id);
    json.begin_object().member("session_id", session.session_id);
    json.member("state", state == states.end() ? "active" : state->second);
    json.member("entries", session.entries());
    add_time(json, "oldest", session.oldest);
    add_time(json, "newest", session.newest);
    json.member("size_bytes", session.size_bytes).end_object();
  });
  add_array(json, "problems", statistics.problems, write_error);
  return object_response(json);
}

Result<HttpResponse> http_decay(ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(const std::vector<DecayReport> reports,
                  context.memory.decay(call.texts("session_id"), call.time("as_of")));
  JsonWriter json;
  json.begin_object();
  add_array(json, "sessions", reports, [&](const DecayReport& report) {
    json.begin_object().member("session_id", report.session_id);
    json.member("as_of", format_rfc3339(report.as_of)).member("model", report.model);
    json.member("entries", report.entries);
    add_array(json, "histogram", report.histogram,
              [&](const std::uint64_t count) { json.integer(static_cast<std::int64_t>(count)); });
    json.key("mean").begin_object();
    for (const EntryType type : kEntryTypes) {
      json.member(entry_type_name(type), report.mean[static_cast<std::size_t>(type)]);
    }
    json.end_object().end_object();
  });
  add_decay_curve(json, context.memory.decay_table());
  return object_response(json);
}

Result<HttpResponse> http_settings(ApiContext& context, const EndpointCall& /*call*/) {
  // As config.json says now: this process keeps what it has read when it started.
  BMAD_TRY_ASSIGN(const MemoryManager now,
                  MemoryManager::open({.root = std::string(context.memory.root()),
                                       .state_folder = trusting_folder()}));
  const std::string effective = json_compact(effective_settings(now));
  JsonWriter json;
  json.begin_object().key("settings").raw(effective).member("root", context.memory.root());
  std::vector<std::string> warnings = now.config_warnings();
  for_each_rule_warning(context.memory,
                        [&](std::string text) { warnings.push_back(std::move(text)); });
  add_list(json, "warnings", warnings);
  json.member("version", tool_version());
  return object_response(json);
}

Result<HttpResponse> http_health(ApiContext& context, const EndpointCall& /*call*/) {
  BMAD_TRY_ASSIGN(const GlobalStatistics statistics, context.memory.global_statistics());
  BMAD_TRY_ASSIGN(const PrivacyReport privacy, context.memory.privacy_report());
  BMAD_TRY_ASSIGN(const std::vector<LockHolder> locks, list_lock_holders(context.memory));
  Result<MaintenanceReport> maintenance = context.memory.maintain({.dry_run = true});
  if (!maintenance) {  // A bad schedule must not hide all the rest.
    maintenance = MaintenanceReport{.done = {},
                                    .problems = {maintenance.error()},
                                    .next_due = Timestamp::max(),
                                    .held_back = {}};
  }
  std::vector<Error> problems = statistics.problems;
  problems.insert(problems.end(), privacy.problems.begin(), privacy.problems.end());
  JsonWriter json;
  json.begin_object().member("root", context.memory.root()).member("version", tool_version());
  json.member("sessions", std::uint64_t{statistics.sessions.size()});
  json.member("archived_sessions", privacy.archived_sessions);
  const Totals totals = totals_of(statistics);
  json.member("entries", totals.entries).member("size_bytes", totals.size_bytes);
  json.member("over_trigger", static_cast<std::uint64_t>(std::ranges::count_if(
                                  statistics.sessions, &SessionStatistics::is_over_trigger)));
  add_largest(json, statistics);
  add_locks(json, locks);
  add_hub(json, context.memory);
  add_maintenance(json, *maintenance);
  add_privacy(json, privacy);
  add_array(json, "problems", problems, write_error);
  return object_response(json);
}

}  // namespace bmad_mem::cli
