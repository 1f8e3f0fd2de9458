// care.cpp - files are checked, repaired, and kept small.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/filters.hpp"
#include "cli/output.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "exchange/git/git_program.hpp"
#include "operation_calls.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

namespace {

bool is_newer(const Finding& finding) { return finding.kind == FindingKind::kNewerVersion; }

void print_summary(Tool& tool, const VerifyReport& report) {
  if (tool.json()) {
    print_object(tool, "summary", shaped(shape::verify_summary, report));
    return;
  }
  if (report.closed_lines > 0) {
    tool.note(
        fmt::format("{} checked in form alone: the key is not here",
                    format_count(report.closed_lines, "sealed line was", "sealed lines were")));
  }
  if (report.unsealed_lines > 0) {
    tool.note(fmt::format("{} in clear in what is sealed; `{}` seals what a merge brought",
                          format_count(report.unsealed_lines, "line is", "lines are"),
                          report.seal_command));
  }
  const std::string looked_at =
      fmt::format("{}, {}, {}, {}", format_count(report.sessions, "session", "sessions"),
                  format_count(report.logs, "log", "logs"),
                  format_count(report.lines, "line", "lines"), format_size(report.bytes));
  if (report.findings.empty() && report.changes.empty()) {
    tool.out().print("{}: {}\n", tool.style().green("all good"), looked_at);
  } else if (report.findings.empty()) {
    tool.out().print("{} in {}\n",
                     tool.style().green(format_count(report.changes.size(), "change", "changes") +
                                        " by hand, no damage"),
                     looked_at);
    tool.note(
        "`bmad-mem review --hand` shows the changes; `bmad-mem repair --accept` keeps them and "
        "ends "
        "these lines");
  } else {
    tool.out().print("{} in {}\n",
                     tool.style().red(format_count(report.findings.size(), "finding", "findings")),
                     looked_at);
    if (!std::ranges::all_of(report.findings, is_newer)) {
      tool.note("`bmad-mem repair` repairs damage without losing data");
    }
  }
}

}  // namespace

Result<ExitStatus> run_verify(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const std::vector<HandEdit> edits = look_for_hand_edits(tool, memory);
  BMAD_TRY_ASSIGN(VerifyReport report, with_progress(tool, "verify", [&](const auto& show) {
                    return memory.verify(tool.args().all("session"), show);
                  }));
  const std::vector<std::string>& sessions = tool.args().all("session");
  for (const HandEdit& edit : edits) {
    if (sessions.empty() || std::ranges::find(sessions, edit.place.session_id) != sessions.end()) {
      report.changes.push_back(edit.place);
    }
  }
  if (tool.args().has("seal")) {
    std::ranges::move(report.changes, std::back_inserter(report.findings));
    report.changes.clear();
  }
  print_findings(tool, report.findings);
  print_findings(tool, report.changes, "change");
  print_summary(tool, report);
  return report.findings.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

namespace {

void print_text(Tool& tool, const RepairReport& report) {
  for (const RepairAction& action : report.actions) {
    tool.out().print("{}: {}\n", printable(action.path), printable(action.what));
  }
  if (!report.left.empty()) {
    tool.out().print("{}\n", tool.style().red("left for a person to look at:"));
    print_findings(tool, report.left);
  }
  const std::string sessions = format_count(report.sessions, "session", "sessions");
  if (report.actions.empty() && report.left.empty()) {
    tool.out().print("{}: nothing to repair in {}\n", tool.style().green("all good"), sessions);
  } else {
    tool.out().print("{} in {}\n", format_count(report.actions.size(), "repair", "repairs"),
                     sessions);
  }
}

}  // namespace

Result<ExitStatus> run_repair(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const std::vector<std::string>& sessions = tool.args().all("session");
  const auto is_elsewhere = [&](const std::string& session_id) {
    return is_on_another_branch(memory.root(),
                                fmt::format("sessions/{}/manifest.json", session_id));
  };
  BMAD_TRY_ASSIGN(RepairReport report, with_progress(tool, "repair", [&](const auto& show) {
                    return memory.repair(sessions, show, is_elsewhere);
                  }));
  if (tool.args().has("accept")) {  // What was left because it differs from its seal.
    BMAD_TRY_ASSIGN(RepairReport accepted, memory.accept_changes(sessions));
    std::ranges::move(accepted.actions, std::back_inserter(report.actions));
    report.left = std::move(accepted.left);
  }
  if (tool.json()) {
    print_objects(tool, shape::repair_action, report.actions);
    print_findings(tool, report.left, "left");
    print_object(tool, "summary", shaped(shape::repair_summary, report));
  } else {
    print_text(tool, report);
  }
  return report.left.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

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

auto numbers_of(const IndexReport& report) {
  const double took_ms = std::chrono::duration<double, std::milli>(report.took).count();
  return [&report, took_ms](JsonWriter& json) {
    put_all(json, shaped(shape::index_numbers, report, fixed_decimals(took_ms, 3),
                         fixed_decimals(speed_of(report), 1)));
  };
}

void print_json(Tool& tool, const std::vector<IndexReport>& reports, const IndexReport& total) {
  for (const IndexReport& report : reports) {
    print_object(tool, "session_id", report.session_id, numbers_of(report));
  }
  print_object(tool, "total", object_of("sessions", reports.size(), numbers_of(total)));
}

TableRow row_of(const IndexReport& report) {
  return {report.session_id,
          format_count(report.entries),
          format_count(report.terms),
          format_size(report.log_bytes),
          format_size(report.index_bytes),
          fmt::format("{:.1f}", speed_of(report))};
}

}  // namespace

Result<ExitStatus> run_encode(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const auto encode = [&](const auto& show) { return memory.encode({.all = true}, show); };
  BMAD_TRY_ASSIGN(const EncodeReport report, with_progress(tool, "encode", encode, "entries"));
  if (tool.json()) {
    print_object(tool, shaped(shape::encode, report));
    return ExitStatus::kDone;
  }
  if (report.is_elsewhere) {
    tool.out().print("{}: another process encodes; {} of {} entries waiting\n", report.encoder,
                     report.waiting, report.entries);
    return ExitStatus::kDone;
  }
  tool.out().print("{}: encoded {} of {} entries, {} waiting{}\n", report.encoder, report.encoded,
                   report.entries, report.waiting,
                   report.refused > 0 ? fmt::format(", {} refused", report.refused) : "");
  return ExitStatus::kDone;
}

Result<ExitStatus> run_rebuild_index(Tool& tool) {
  const std::span<const std::string> sessions = tool.args().all("session");
  if (tool.args().has("all") && !sessions.empty()) {
    return tool.wrong_usage("--all is every session; leave out --session");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const auto start = std::chrono::steady_clock::now();
  BMAD_TRY_ASSIGN(const std::vector<IndexReport> reports,
                  with_progress(tool, "index", [&](const auto& show) {
                    return memory.rebuild_index(sessions, show);
                  }));
  const IndexReport total = total_of(reports, std::chrono::steady_clock::now() - start);
  if (tool.json()) {
    print_json(tool, reports, total);
    return ExitStatus::kDone;
  }
  std::vector<TableRow> rows = {{"session", "entries", "terms", "logs", "index", "MB/s"}};
  for (const IndexReport& report : reports) {
    rows.push_back(row_of(report));
  }
  rows.push_back(row_of(total));
  print_table(tool, rows);
  return ExitStatus::kDone;
}

namespace {

void print_text(Tool& tool, const MaintenanceReport& report, bool is_auto) {
  for (const MaintenanceAction& action : report.done) {
    tool.out().print("{}\n", action_text(action));
  }
  if (!report.held_back.empty()) {
    tool.note(report.held_back);
  }
  if (!is_auto) {
    tool.out().print("{}next due: {}\n", report.done.empty() ? "nothing to do; " : "",
                     due_text(report.next_due, system_clock().now()));
  }
}

}  // namespace

Result<ExitStatus> run_maintain(Tool& tool) {
  const bool is_auto = tool.args().has("auto");
  const bool dry_run = tool.args().has("dry-run");
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const auto maintain = [&](const MemoryManager::Progress& show) {
    return memory.maintain({.only_due = is_auto,
                            .dry_run = dry_run,
                            .purge = tool.args().has("purge"),
                            .on_progress = show});
  };
  BMAD_TRY_ASSIGN(const MaintenanceReport report,
                  with_progress(tool, "maintain", maintain, "sessions"));
  if (tool.json() && !(is_auto && report.done.empty() && report.problems.empty())) {
    print_objects(tool, shape::action, report.done);
    print_object(tool, "summary", shaped(shape::maintenance_summary, report, dry_run));
  } else if (!tool.json()) {
    print_text(tool, report, is_auto);
  }
  tool.report_all(report.problems);
  return report.problems.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

namespace {

Result<std::optional<double>> read_keep(const Arguments& args) {
  const auto given = args.maybe("keep");
  if (!given) {
    return std::optional<double>();
  }
  std::string_view digits = *given;
  if (digits.ends_with('%')) {
    digits.remove_suffix(1);
  }
  const std::optional<double> percent = number_in<double>(digits);
  if (!percent || !(*percent > 0 && *percent <= 100)) {
    return bad_value("keep",
                     fmt::format("'{}' is not a share; write a number above 0 and up to 100, "
                                 "in percent",
                                 *given));
  }
  return std::optional<double>(*percent / 100);
}

/// --session, or all with --all, else the one session that is open.
Result<std::vector<std::string>> chosen_sessions(Tool& tool, const MemoryManager& memory) {
  std::vector<std::string> ids = tool.args().all("session");
  if (tool.args().has("all")) {
    BMAD_TRY_ASSIGN(const std::vector<Session> sessions, memory.list_sessions());
    for (const Session& session : sessions) {
      ids.push_back(session.session_id);
    }
  } else if (ids.empty()) {
    BMAD_TRY_ASSIGN(std::string id, choose_session(tool, memory));
    ids.push_back(std::move(id));
  }
  return ids;
}

/// What else could go.
void note_force(Tool& tool, const CompactionReport& report) {
  if (report.force_evicts > 0) {
    tool.note(fmt::format("--force would evict {} of {}, {}", format_count(report.force_evicts),
                          format_count(report.entries_after, "entry", "entries"),
                          format_size(report.force_bytes)));
  }
}

void print_report(Tool& tool, const CompactionReport& report, bool dry_run) {
  if (tool.json()) {
    print_removed(tool, report.removed);
    print_object(tool, "summary", shaped(shape::compaction_summary, report, dry_run));
    return;
  }
  if (dry_run) {
    print_removed(tool, report.removed);
  }
  const std::string id = tool.style().id(report.session_id);
  if (report.below_trigger && report.removed.empty()) {
    tool.out().print("{}: nothing to do: {} of {}; compaction begins at {}\n", id,
                     format_count(report.entries_after, "entry", "entries"),
                     format_size(report.bytes_after), format_size(report.trigger_bytes));
    note_force(tool, report);
    return;
  }
  if (report.removed.empty()) {
    tool.out().print("{}: nothing {} ({}, {})\n", id, dry_run ? "would go" : "went",
                     format_count(report.entries_after, "entry", "entries"),
                     format_size(report.bytes_after));
    return;
  }
  const std::string folded =
      report.folded == 0
          ? std::string()
          : fmt::format("{} counted, ", format_count(report.folded, "tool event", "tool events"));
  const std::string statements =
      report.statements == 0
          ? std::string()
          : fmt::format(", {} kept", format_count(report.statements, "statement", "statements"));
  tool.out().print("{}: {}{} of older versions, {}, {}{} evicted{}; {} of {} left, {} of {}\n", id,
                   dry_run ? "would remove " : "", format_count(report.superseded, "line", "lines"),
                   format_count(report.duplicates, "duplicate", "duplicates"), folded,
                   format_count(report.evicted), statements, format_count(report.entries_after),
                   format_count(report.entries_before, "entry", "entries"),
                   format_size(report.bytes_after), format_size(report.bytes_before));
  if (report.evicted + report.folded > 0 && !dry_run) {
    tool.note(
        fmt::format("to restore evicted entries, run `bmad-mem restore --evicted --session {}`",
                    report.session_id));
  }
}

}  // namespace

Result<ExitStatus> run_compact(Tool& tool) {
  const Arguments& args = tool.args();
  if (args.has("all") && args.has("session")) {
    return tool.wrong_usage("--all is every session; leave out --session");
  }
  BMAD_TRY_ASSIGN(const std::optional<double> keep, read_keep(args));
  const bool dry_run = args.has("dry-run");
  const bool force = args.has("force");
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, chosen_sessions(tool, memory));
  std::uint64_t done = 0;
  Progress progress(tool, "compact", "sessions");  // One for all: most take no time.
  return for_all(tool, ids, [&](const std::string& id) -> Status {
    progress.show(done++, ids.size());
    const Result<CompactionReport> compacted =
        memory.compact(id, {.dry_run = dry_run, .keep_share = keep, .force = force});
    progress.hide();
    BMAD_TRY_ASSIGN(const CompactionReport report, compacted);
    print_report(tool, report, dry_run);
    return {};
  });
}

Result<ExitStatus> run_restore(Tool& tool) {
  if (!tool.args().has("evicted")) {
    return tool.wrong_usage(
        "say what: `restore --evicted` for entries that compaction moved away, `session restore` "
        "for an archived session, `undelete` for what was deleted");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, whole_ids(memory, tool.args().positionals()));
  BMAD_TRY_ASSIGN(const std::uint64_t count, memory.restore_evicted(session, ids));
  if (tool.json()) {
    print_object(tool, "session_id", session, "lines", count);
  } else {
    tool.out().print("restored {} of {}\n", format_count(count, "line", "lines"), session);
  }
  if (count < ids.size()) {
    return Error{
        .code = ErrorCode::E_ENTRY_NOT_FOUND,
        .message = "the others are not among the evicted entries, or are already restored"};
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
