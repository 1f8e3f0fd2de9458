#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/totals.hpp"
#include "cli/views.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
void print_closed_as_json(Tool& tool, const Result<std::uint64_t>& closed) {
  if (tool.json() && closed && *closed != 0) {
    print_object(tool, "closed_lines", *closed);
  }
}

void note_nothing_found(Tool& tool, const MemoryManager& memory, const EntryFilter& filter,
                        std::string_view said) {
  tool.note(said);
  const auto has_none = [&](const Session& session) {
    std::error_code failed;
    return std::ranges::find(session.tags, "hook") != session.tags.end() &&
           !std::filesystem::exists(
               fmt::format("{}/sessions/{}/events.jsonl", memory.root(), session.session_id),
               failed);
  };
  if (filter.types == std::vector{EntryType::kEvent} &&
      std::ranges::any_of(memory.list_sessions().value_or(std::vector<Session>()), has_none)) {
    tool.note(
        "sessions of hooks have no events here; tool output stays on the machine that recorded it");
  }
}

void note_closed(Tool& tool, const MemoryManager& memory, const EntryFilter& filter) {
  const Result<std::uint64_t> closed = memory.closed_entries(filter);
  print_closed_as_json(tool, closed);
  if (!closed && tool.json()) {
    tool.leave_out(closed.error());
  } else if (!closed) {
    tool.note(fmt::format("sealed entries need the key: {}", closed.error().to_string()));
  } else if (*closed > 0) {
    tool.note(*closed == 1 ? "1 sealed entry needs the key"
                           : fmt::format("{} sealed entries need the key", *closed));
  }
}

void note_sealed(Tool& tool, const MemoryManager& memory,
                 const std::vector<std::string>& sessions) {
  const Result<std::uint64_t> lines = memory.sealed_lines(sessions);
  if (lines && *lines > 0) {
    tool.note(fmt::format("{} left out: only query, list, get, history and export open them",
                          format_count(*lines, "sealed line was", "sealed lines were")));
  }
}

namespace {

void print_sealed(Tool& tool, std::uint64_t lines) {
  if (lines != 0) {
    tool.out().print("{}, which only a key opens\n",
                     format_count(lines, "sealed line", "sealed lines"));
  }
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
    tool.out().print("oldest  {}\nnewest  {}\n", shown_time(*statistics.oldest),
                     shown_time(*statistics.newest));
  }
  if (statistics.quarantined != 0) {
    tool.out().print("{} in quarantine.jsonl\n",
                     format_count(statistics.quarantined, "line", "lines"));
  }
  print_sealed(tool, statistics.sealed_lines());
  const auto torn = std::accumulate(
      statistics.types.begin(), statistics.types.end(), std::uint64_t{0},
      [](std::uint64_t sum, const TypeStatistics& type) { return sum + type.torn_bytes; });
  if (torn != 0) {
    tool.out().print("{} after the last whole line, from an interrupted write\n",
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
                    session.newest ? shown_minute(*session.newest) : "-", states[i]});
  }
  const Totals total = totals_of(statistics);
  rows.push_back({statistics.problems.empty() ? "total" : "total of these",
                  format_count(total.entries), format_count(total.versions),
                  format_count(total.damaged_lines), format_size(total.size_bytes)});
  print_table(tool, rows);
  print_sealed(tool, total.sealed_lines);
}

std::string action_text(const MaintenanceAction& action) {
  // Some sentences begin with what is counted.
  const bool wants_count = action.what.starts_with("entr") || action.what.starts_with("lines");
  return fmt::format("{}{}{}: {}{}", action.task, action.session_id.empty() ? "" : " ",
                     action.session_id, wants_count ? format_count(action.count) + " " : "",
                     printable(action.what));
}

void note_maintenance(Tool& tool, MemoryManager& memory) {
  for (const MaintenanceAction& action : memory.maintained_by_the_way()) {
    tool.note(action_text(action));
  }
}

std::string due_text(Timestamp next_due, Timestamp now) {
  if (next_due == Timestamp::max()) {
    return "never";
  }
  return next_due <= now ? "now" : shown_time(next_due);
}

void print_histogram(Tool& tool, const DecayReport& report) {
  constexpr std::size_t kWidth = 30;
  const std::uint64_t most = *std::ranges::max_element(report.histogram);
  std::size_t width = 0;
  for (const std::uint64_t count : report.histogram) {
    width = std::max(width, format_count(count).size());
  }
  for (std::size_t i = report.histogram.size(); i-- > 0;) {
    const std::uint64_t count = report.histogram[i];
    const double share = most == 0 ? 0 : static_cast<double>(count) / static_cast<double>(most);
    std::string line =
        fmt::format("  {:.1f} to {:.1f}  {}  {}", static_cast<double>(i) / 10,
                    static_cast<double>(i + 1) / 10, padded_left(format_count(count), width),
                    count == 0 ? std::string() : block_bar(share, kWidth));
    line.erase(line.find_last_not_of(' ') + 1);
    tool.out().print("{}\n", line);
  }
}

void print_decay_table(Tool& tool, std::span<const DecayTableLine> lines) {
  if (tool.json()) {
    const auto by_age = [](const DecayTableLine& line) {
      std::vector<std::pair<std::string, RawJson>> factors;
      for (std::size_t i = 0; i < line.factors.size(); ++i) {
        factors.emplace_back(fmt::format("{}", kDecayTableAges[i]), rounded(line.factors[i]));
      }
      return factors;
    };
    print_objects(tool, shape::decay_table_line, lines, by_age);
    return;
  }
  std::vector<TableRow> rows;
  const auto flush = [&] {
    if (!rows.empty()) {
      print_table(tool, rows);
    }
    rows.clear();
  };
  std::string_view model;
  for (const DecayTableLine& line : lines) {
    if (line.model != model) {
      flush();
      tool.out().write(model.empty() ? "" : "\n");
      model = line.model;
      rows.push_back({line.is_used ? line.model + " (used)" : line.model});
      for (const int days : kDecayTableAges) {
        rows.front().push_back(days == 1 ? "1 day" : fmt::format("{} days", days));
      }
    }
    rows.push_back({std::string(entry_type_name(line.type))});
    for (const double factor : line.factors) {
      rows.back().push_back(fmt::format("{:.2f}", factor));
    }
  }
  flush();
}

namespace {

std::string finding_text(const Finding& finding) {
  std::string out = printable(finding.path);
  if (finding.line != 0) {
    out += fmt::format(":{}", finding.line);
    if (finding.column != 0) {
      out += fmt::format(":{}", finding.column);
    }
  }
  out += ": ";
  if (finding.kind == FindingKind::kTornTail) {
    out += "torn tail: ";
  }
  if (!finding.field.empty()) {
    out += printable(finding.field) + ": ";
  }
  return out + printable(finding.reason);
}

}  // namespace

void print_findings(Tool& tool, std::span<const Finding> findings, std::string_view name) {
  for (const Finding& finding : findings) {
    if (!tool.json()) {
      tool.out().print("{}\n", finding_text(finding));
    } else if (name.empty()) {
      print_object(tool, shaped(shape::finding, finding));
    } else {
      print_object(tool, name, shaped(shape::finding, finding));
    }
  }
}

}  // namespace bmad_mem::cli
