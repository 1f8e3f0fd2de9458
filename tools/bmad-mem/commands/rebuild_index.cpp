// rebuild-index - makes index.json anew from the logs.
#include <chrono>
#include <string>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "filters.hpp"
#include "progress.hpp"
#include "table.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

IndexReport total_of(const std::vector<IndexReport>& reports, std::chrono::nanoseconds took) {
  IndexReport total{.session_id = "total", .took = took};
  for (const IndexReport& report : reports) {
    total.entries += report.entries;
    total.terms += report.terms;
    total.log_bytes += report.log_bytes;
    total.index_bytes += report.index_bytes;
  }
  return total;
}

/// Millions of bytes of logs a second.
double speed_of(const IndexReport& report) {
  const double seconds = std::chrono::duration<double>(report.took).count();
  return seconds > 0 ? static_cast<double>(report.log_bytes) / seconds / 1e6 : 0;
}

void add_numbers(JsonWriter& json, const IndexReport& report) {
  const double took_ms = std::chrono::duration<double, std::milli>(report.took).count();
  json.member("entries", report.entries).member("terms", report.terms);
  json.member("log_bytes", report.log_bytes).member("index_bytes", report.index_bytes);
  json.key("took_ms").raw(fmt::format("{:.3f}", took_ms));
  json.key("mb_per_s").raw(fmt::format("{:.1f}", speed_of(report)));
}

void print_json(Tool& tool, const std::vector<IndexReport>& reports, const IndexReport& total) {
  for (const IndexReport& report : reports) {
    JsonWriter json;
    json.begin_object().member("session_id", report.session_id);
    add_numbers(json, report);
    json.end_object();
    tool.out().print("{}\n", json.text());
  }
  JsonWriter json;
  json.begin_object().key("total").begin_object();
  json.member("sessions", static_cast<std::uint64_t>(reports.size()));
  add_numbers(json, total);
  json.end_object().end_object();
  tool.out().print("{}\n", json.text());
}

TableRow row_of(const IndexReport& report) {
  return {report.session_id,
          format_count(report.entries),
          format_count(report.terms),
          format_size(report.log_bytes),
          format_size(report.index_bytes),
          fmt::format("{:.1f}", speed_of(report))};
}

Result<ExitStatus> run_rebuild_index(Tool& tool) {
  const std::span<const std::string> sessions = tool.args().all("session");
  if (tool.args().has("all") && !sessions.empty()) {
    return tool.wrong_usage("--all is every session; leave out --session");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const auto start = std::chrono::steady_clock::now();
  const Result<std::vector<IndexReport>> reports = [&] {
    Progress progress(tool, "index");
    return memory.rebuild_index(
        sessions, [&](std::uint64_t done, std::uint64_t total) { progress.show(done, total); });
  }();
  if (!reports) {
    return reports.error();
  }
  const IndexReport total = total_of(*reports, std::chrono::steady_clock::now() - start);
  if (tool.json()) {
    print_json(tool, *reports, total);
    return ExitStatus::kDone;
  }
  std::vector<TableRow> rows = {{"session", "entries", "terms", "logs", "index", "MB/s"}};
  for (const IndexReport& report : *reports) {
    rows.push_back(row_of(report));
  }
  rows.push_back(row_of(total));
  print_table(tool, rows);
  return ExitStatus::kDone;
}

constexpr Option kRebuildIndexOptions[] = {
    kSessionFilter,
    {.name = "all", .help = "every session, as without --session"},
};

constexpr Example kRebuildIndexExamples[] = {
    {.command = "bmad-mem rebuild-index", .says = "every session"},
    {.command = "bmad-mem rebuild-index --session sess-2026-01-11-4q7m2s", .says = "one session"},
};

}  // namespace

const Command kRebuildIndex = {
    .name = "rebuild-index",
    .group = Group::kCare,
    .summary = "make the index anew from the logs",
    .description =
        "Reads the logs and writes index.json anew, session by session, and prints how many "
        "entries and terms it holds, the bytes of the logs and of the index, and the millions of "
        "bytes of logs read in a second. Nobody waits for it, and nothing else is changed.\n\n"
        "It is never necessary: a query that finds no index, or one that does not fit the logs, "
        "goes by the logs.",
    .options = kRebuildIndexOptions,
    .examples = kRebuildIndexExamples,
    .run = run_rebuild_index,
    .reads = true,
};

}  // namespace bmad_mem::cli
