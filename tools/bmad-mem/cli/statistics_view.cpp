#include "cli/statistics_view.hpp"

#include <numeric>
#include <optional>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "cli/decay_view.hpp"
#include "cli/maintenance_view.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"

namespace bmad_mem::cli {
namespace {

struct Total {
  std::uint64_t entries = 0;
  std::uint64_t versions = 0;
  std::uint64_t damaged_lines = 0;
  std::uint64_t size_bytes = 0;
};

Total total_of(const GlobalStatistics& statistics) {
  Total total;
  for (const SessionStatistics& session : statistics.sessions) {
    total.entries += session.entries();
    total.versions += session.versions();
    total.damaged_lines += session.damaged_lines();
    total.size_bytes += session.size_bytes;
  }
  return total;
}

void add_type(JsonWriter& json, const TypeStatistics& type) {
  json.key(entry_type_name(type.type)).begin_object();
  json.member("entries", type.entries).member("versions", type.versions);
  json.member("damaged_lines", type.damaged_lines).member("bytes", type.bytes);
  json.member("torn_bytes", type.torn_bytes).end_object();
}

void add_maintenance(JsonWriter& json, const MaintenanceReport& report) {
  json.key("maintenance").begin_object();
  if (report.next_due != Timestamp::max()) {
    json.member("next_due", format_rfc3339(report.next_due));
  }
  json.key("due").begin_array();
  for (const MaintenanceAction& action : report.done) {
    add_action(json, action);
  }
  json.end_array().end_object();
}

void print_quota(Tool& tool, const SessionStatistics& statistics) {
  if (statistics.size_max_bytes == 0) {
    return;
  }
  const double share =
      static_cast<double>(statistics.size_bytes) / static_cast<double>(statistics.size_max_bytes);
  tool.out().print("quota   [{}]  {} of {} ({:.0f} %)\n", bar_text(share, 30),
                   format_size(statistics.size_bytes), format_size(statistics.size_max_bytes),
                   share * 100);
}

}  // namespace

std::string statistics_as_json(const SessionStatistics& statistics, const SessionLife& life,
                               const MaintenanceReport* maintenance) {
  JsonWriter json;
  json.begin_object().member("session_id", statistics.session_id).member("state", life.state);
  json.member("entries", statistics.entries()).member("versions", statistics.versions());
  json.member("damaged_lines", statistics.damaged_lines());
  json.member("size_bytes", statistics.size_bytes);
  json.member("size_max_bytes", statistics.size_max_bytes);
  json.member("quarantined", statistics.quarantined);
  if (statistics.oldest) {
    json.member("oldest", format_rfc3339(*statistics.oldest));
  }
  if (statistics.newest) {
    json.member("newest", format_rfc3339(*statistics.newest));
  }
  json.key("types").begin_object();
  for (const TypeStatistics& type : statistics.types) {
    add_type(json, type);
  }
  json.end_object();
  if (life.decay) {
    json.key("decay").begin_object();
    add_decay(json, *life.decay);
    json.end_object();
  }
  if (maintenance != nullptr) {
    add_maintenance(json, *maintenance);
  }
  json.end_object();
  return json.take();
}

std::string total_as_json(const GlobalStatistics& statistics,
                          const MaintenanceReport& maintenance) {
  const Total total = total_of(statistics);
  JsonWriter json;
  json.begin_object().key("total").begin_object();
  json.member("sessions", static_cast<std::uint64_t>(statistics.sessions.size()));
  json.member("entries", total.entries).member("versions", total.versions);
  json.member("damaged_lines", total.damaged_lines).member("size_bytes", total.size_bytes);
  if (!statistics.problems.empty()) {
    json.member("unreadable_sessions", static_cast<std::uint64_t>(statistics.problems.size()));
  }
  add_maintenance(json, maintenance);
  json.end_object().end_object();
  return json.take();
}

void print_maintenance(Tool& tool, const MaintenanceReport& report) {
  for (const MaintenanceAction& action : report.done) {
    tool.out().print("due     {}\n", action_text(action));
  }
  if (report.done.empty()) {
    tool.out().print("due     nothing; next look {}\n",
                     due_text(report.next_due, system_clock().now()));
  }
}

void print_statistics(Tool& tool, const SessionStatistics& statistics, const SessionLife& life) {
  std::vector<TableRow> rows = {{"type", "entries", "versions", "damaged", "size"}};
  std::uint64_t bytes = 0;
  for (const TypeStatistics& type : statistics.types) {
    rows.push_back({std::string(entry_type_name(type.type)), format_count(type.entries),
                    format_count(type.versions), format_count(type.damaged_lines),
                    format_size(type.bytes)});
    bytes += type.bytes;
  }
  rows.push_back({"total", format_count(statistics.entries()), format_count(statistics.versions()),
                  format_count(statistics.damaged_lines()), format_size(bytes)});
  tool.out().print("{} {}, {}\n", tool.style().bold("session"),
                   tool.style().id(statistics.session_id), life.state);
  print_table(tool, rows);
  tool.out().write("\n");
  print_quota(tool, statistics);
  if (statistics.oldest && statistics.newest) {
    tool.out().print("oldest  {}\nnewest  {}\n", format_rfc3339(*statistics.oldest),
                     format_rfc3339(*statistics.newest));
  }
  if (statistics.quarantined != 0) {
    tool.out().print("{} in quarantine.jsonl\n",
                     format_count(statistics.quarantined, "line", "lines"));
  }
  const auto torn = std::accumulate(
      statistics.types.begin(), statistics.types.end(), std::uint64_t{0},
      [](std::uint64_t sum, const TypeStatistics& type) { return sum + type.torn_bytes; });
  if (torn != 0) {
    tool.out().print("{} behind the last whole line, from a write that was interrupted\n",
                     format_size(torn));
  }
  if (life.decay && life.decay->entries > 0) {
    tool.out().print("decay   how many entries count how much, by the {} model\n",
                     life.decay->model);
    print_histogram(tool, *life.decay);
  }
}

void print_statistics(Tool& tool, const GlobalStatistics& statistics,
                      std::span<const std::string> states) {
  std::vector<TableRow> rows = {
      {"session", "entries", "versions", "damaged", "size", "newest", "state"}};
  for (std::size_t i = 0; i < statistics.sessions.size(); ++i) {
    const SessionStatistics& session = statistics.sessions[i];
    rows.push_back({session.session_id, format_count(session.entries()),
                    format_count(session.versions()), format_count(session.damaged_lines()),
                    format_size(session.size_bytes),
                    session.newest ? format_minute(*session.newest) : "-", states[i]});
  }
  const Total total = total_of(statistics);
  rows.push_back({statistics.problems.empty() ? "total" : "total of these",
                  format_count(total.entries), format_count(total.versions),
                  format_count(total.damaged_lines), format_size(total.size_bytes)});
  print_table(tool, rows);
}

}  // namespace bmad_mem::cli
