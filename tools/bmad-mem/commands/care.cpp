// care.cpp - files are checked, repaired, and kept small; how entries decay.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "bmad_mem/settings.hpp"
#include "cli/output.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "exchange/git/git_program.hpp"
#include "exchange/import/import_files.hpp"
#include "install/json_edit.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

bool is_repairable(const Finding& finding) { return finding.kind != FindingKind::kNewerVersion; }

}  // namespace

Result<ExitStatus> run_verify(Tool& tool, MemoryManager& memory) {
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
  if (tool.args().has("hashes")) {
    std::ranges::move(report.changes, std::back_inserter(report.findings));
    report.changes.clear();
  }
  print_findings(tool, report.findings);
  print_findings(tool, report.changes, "change");
  show(tool, "verify", object_of("summary", shaped(shape::verify_summary, report)),
       "encrypt_command", report.encrypt_command, "knows_encrypted", report.knows_encrypted,
       "repairable", std::ranges::any_of(report.findings, is_repairable));
  return report.findings.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

/// Doubles and false lines of imports: an action for each.
Result<RepairReport> repair_imports(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const std::vector<ImportFault> faults, find_import_faults(memory));
  if (!tool.args().has("dry-run")) {
    BMAD_TRY(mend_import_faults(memory, faults));
  }
  RepairReport report;
  for (const ImportFault& fault : faults) {
    report.actions.push_back({.session_id = fault.session_id,
                              .path = fmt::format("{} {}", fault.session_id, fault.id),
                              .what = fmt::format("{}: {}", fault.reason, fault.text),
                              .count = 1});
  }
  BMAD_TRY_ASSIGN(const std::vector<Session> sessions, memory.list_sessions());
  report.sessions = sessions.size();
  return report;
}

Result<ExitStatus> run_repair(Tool& tool, MemoryManager& memory) {
  const std::vector<std::string>& sessions = tool.args().all("session");
  const auto is_elsewhere = [&](const std::string& session_id) {
    return is_on_another_branch(memory.root(),
                                fmt::format("sessions/{}/manifest.json", session_id));
  };
  BMAD_TRY_ASSIGN(RepairReport report, with_progress(tool, "repair", [&](const auto& show) {
                    return tool.args().has("imports") ? repair_imports(tool, memory)
                                                      : memory.repair(sessions, show, is_elsewhere);
                  }));
  if (tool.args().has("accept")) {  // What was left because it differs from its line hashes.
    BMAD_TRY_ASSIGN(RepairReport accepted, memory.accept_changes(sessions));
    std::ranges::move(accepted.actions, std::back_inserter(report.actions));
    report.left = std::move(accepted.left);
  }
  if (tool.json()) {
    print_objects(tool, shape::repair_action, report.actions);
    print_findings(tool, report.left, "left");
    print_object(tool, "summary", shaped(shape::repair_summary, report));
  } else {
    describe(tool, "repair", "actions", shaped(shape::repair_action, report.actions), "left",
             shaped(shape::finding, report.left), "sessions", report.sessions);
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

auto line_of(const IndexReport& report) {
  return [&report](JsonWriter& json) {
    put_all(json, "session_id", report.session_id, numbers_of(report));
  };
}

}  // namespace

Result<ExitStatus> run_encode(Tool& tool, MemoryManager& memory) {
  const auto encode = [&](const auto& show) { return memory.encode({.all = true}, show); };
  BMAD_TRY_ASSIGN(const EncodeReport report, with_progress(tool, "encode", encode, "entries"));
  return show(tool, "encode", shaped(shape::encode, report));
}

Result<ExitStatus> run_rebuild_index(Tool& tool, MemoryManager& memory) {
  const std::span<const std::string> sessions = tool.args().all("session");
  const auto start = std::chrono::steady_clock::now();
  BMAD_TRY_ASSIGN(const std::vector<IndexReport> reports,
                  with_progress(tool, "index", [&](const auto& show) {
                    return memory.rebuild_index(sessions, show);
                  }));
  std::vector<IndexReport> lines = reports;
  lines.push_back(total_of(reports, std::chrono::steady_clock::now() - start));
  if (tool.json()) {
    for (const IndexReport& report : reports) {
      print_object(tool, line_of(report));
    }
    print_object(tool, "total", object_of("sessions", reports.size(), numbers_of(lines.back())));
  }
  return describe(tool, "index", "reports", lines | std::views::transform(line_of));
}

Result<ExitStatus> run_maintain(Tool& tool, MemoryManager& memory) {
  const bool is_auto = tool.args().has("auto");
  const bool dry_run = tool.args().has("dry-run");
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
  }
  describe(tool, "maintenance", shaped(shape::due_maintenance, report), "held_back",
           report.held_back, "auto", is_auto);
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
  const std::optional<double> percent = real_in(digits);
  if (!percent || !(*percent > 0 && *percent <= 100)) {
    return bad_value(
        "keep", "'{}' is not a share; write a number above 0 and up to 100, in percent", *given);
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

}  // namespace

Result<ExitStatus> run_compact(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  BMAD_TRY_ASSIGN(const std::optional<double> keep, read_keep(args));
  const bool dry_run = args.has("dry-run");
  const bool force = args.has("force");
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, chosen_sessions(tool, memory));
  std::uint64_t done = 0;
  Progress progress(tool, "compact", "sessions");  // One for all: most take no time.
  return for_all(tool, ids, [&](const std::string& id) -> Status {
    progress.show(done++, ids.size());
    const Result<CompactionReport> compacted =
        memory.compact(id, {.dry_run = dry_run, .keep_share = keep, .force = force});
    progress.hide();
    BMAD_TRY_ASSIGN(const CompactionReport report, compacted);
    if (tool.json() || dry_run) {
      show_all(tool, "removed", shape::removed_entry, report.removed);
    }
    show(tool, "compaction",
         object_of("summary", shaped(shape::compaction_summary, report, dry_run)), "removed",
         report.removed.size(), "below_trigger", report.below_trigger);
    return {};
  });
}

Result<ExitStatus> run_restore(Tool& tool, MemoryManager& memory, const std::string& session) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, whole_ids(memory, tool.args().positionals()));
  BMAD_TRY_ASSIGN(const std::uint64_t count, memory.restore_evicted(session, ids));
  show(tool, "restored_lines", object_of("session_id", session, "lines", count));
  if (count < ids.size()) {
    return Error{
        .code = ErrorCode::E_ENTRY_NOT_FOUND,
        .message = "the others are not among the evicted entries, or are already restored"};
  }
  return ExitStatus::kDone;
}

namespace {

/// As config.json has it: three digits say all that some dozens of entries can.
std::string rate_text(double rate) { return fmt::format("{:.3g}", rate); }

/// Whether --apply writes the rate.
bool is_applied(const LearnedRate& rate) { return rate.is_enough && rate.is_setting; }

/// Puts the learned rates into config.json.
Status apply_learned(MemoryManager& memory, std::span<const LearnedRate> rates) {
  std::map<std::string, std::optional<std::string>> changes;
  for (const LearnedRate& each : rates) {
    if (is_applied(each)) {
      changes[fmt::format("decay.rates.{}", entry_type_name(each.type))] = rate_text(each.rate);
    }
  }
  return edit_settings(memory, changes, with_setting);
}

Result<ExitStatus> learn_rates(Tool& tool) {
  const bool apply = tool.args().has("apply");
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY(memory.check_allowed("decay", apply));
  BMAD_TRY_ASSIGN(const std::vector<LearnedRate> rates, memory.learned_decay());
  const bool is_any = std::ranges::any_of(rates, is_applied);
  if (apply && is_any) {
    BMAD_TRY(apply_learned(memory, rates));
  }
  for (const LearnedRate& each : tool.json() ? rates : std::vector<LearnedRate>()) {
    print_object(tool, shaped(shape::learned_rate, each, apply && is_applied(each)));
  }
  describe(tool, "learned_rates", "all", shaped(shape::learned_rate, rates, apply));
  return describe(tool, "undecided", "is_applied", apply && is_any, "is_any", is_any, "apply",
                  apply, "root", memory.root(), "ends", kLearnedEndsMin, "days",
                  kLearnedSilentDays);
}

}  // namespace

Result<ExitStatus> run_decay(Tool& tool) {
  const Arguments& args = tool.args();
  const bool write = args.has("write");
  if (args.has("learn")) {
    return learn_rates(tool);
  }
  std::optional<Timestamp> as_of;
  if (const auto text = args.maybe("as-of")) {
    BMAD_TRY_ASSIGN(as_of, parse_time(*text, system_clock().now(), RangeEnd::kSince, "as-of"));
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (args.has("table")) {
    print_decay_table(tool, memory.decay_table());
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const std::vector<DecayReport> reports,
                  memory.decay(args.all("session"), as_of, write));
  for (const DecayReport& report : reports) {
    print_decay(tool, report, write);
  }
  if (reports.empty()) {
    tool.note("there is no session");
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
