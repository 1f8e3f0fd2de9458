// maintain - does what is due: compaction, archives, retention, purging.
#include "bmad_mem/rfc3339.hpp"
#include "commands/commands.hpp"
#include "maintenance_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

void print_json(Tool& tool, const MaintenanceReport& report, bool dry_run) {
  for (const MaintenanceAction& action : report.done) {
    JsonWriter json;
    add_action(json, action);
    tool.out().print("{}\n", json.text());
  }
  JsonWriter json;
  json.begin_object().key("summary").begin_object();
  json.member("dry_run", dry_run).member("actions", static_cast<std::uint64_t>(report.done.size()));
  json.member("problems", static_cast<std::uint64_t>(report.problems.size()));
  if (report.next_due != Timestamp::max()) {
    json.member("next_due", format_rfc3339(report.next_due));
  }
  if (!report.held_back.empty()) {
    json.member("held_back", report.held_back);
  }
  json.end_object().end_object();
  tool.out().print("{}\n", json.text());
}

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

Result<ExitStatus> run_maintain(Tool& tool) {
  const bool is_auto = tool.args().has("auto");
  const bool dry_run = tool.args().has("dry-run");
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const MaintenanceReport report,
                  memory.maintain({.only_due = is_auto, .dry_run = dry_run}));
  if (tool.json() && !(is_auto && report.done.empty() && report.problems.empty())) {
    print_json(tool, report, dry_run);
  } else if (!tool.json()) {
    print_text(tool, report, is_auto);
  }
  for (const Error& problem : report.problems) {
    tool.report(problem);
  }
  return report.problems.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

constexpr Option kMaintainOptions[] = {
    {.name = "auto", .help = "only what is due by the schedule; not a word when nothing is"},
    {.name = "dry-run", .help = "say what would be done; change nothing"},
};

constexpr Example kMaintainExamples[] = {
    {.command = "bmad-mem maintain --dry-run", .says = "what there is to do"},
    {.command = "bmad-mem maintain --auto", .says = "for a hook or a crontab: cheap, and quiet"},
};

}  // namespace

const Command kMaintain = {
    .name = "maintain",
    .group = Group::kCare,
    .summary = "do what is due: compact, archive, expire, purge",
    .description =
        "Compacts sessions above their trigger, archives those that were idle for 30 days, deletes "
        "entries past their retention, and purges what was deleted longer ago than it can be "
        "brought back. config.json says after how many days each, and when purging is due.\n\n"
        "There is no daemon: opening and closing sessions does what is due by the way. A clock "
        "that has jumped ahead deletes nothing until a run a day later confirms it.",
    .options = kMaintainOptions,
    .examples = kMaintainExamples,
    .exit_status =
        "0 done, 1 failed, or something could not be done (the rest was), 2 wrong usage.",
    .run = run_maintain,
};

}  // namespace bmad_mem::cli
