// repair - mends what verify finds, as far as that is possible without a person.
#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "exchange/git/git_program.hpp"
#include "filters.hpp"
#include "findings.hpp"
#include "progress.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

void print_json(Tool& tool, const RepairReport& report) {
  for (const RepairAction& action : report.actions) {
    JsonWriter json;
    json.begin_object().member("file", action.path).member("what", action.what);
    json.member("count", action.count).member("session_id", action.session_id);
    json.end_object();
    tool.out().print("{}\n", json.text());
  }
  for (const Finding& finding : report.left) {
    tool.out().print("{{\"left\":{}}}\n", finding_as_json(finding));
  }
  JsonWriter json;
  json.begin_object().key("summary").begin_object();
  json.member("sessions", report.sessions);
  json.member("actions", static_cast<std::uint64_t>(report.actions.size()));
  json.member("left", static_cast<std::uint64_t>(report.left.size()));
  json.end_object().end_object();
  tool.out().print("{}\n", json.text());
}

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
    tool.out().print("{}: nothing to mend in {}\n", tool.style().green("all good"), sessions);
  } else {
    tool.out().print("{} in {}\n", format_count(report.actions.size(), "repair", "repairs"),
                     sessions);
  }
}

/// What was left because it differs from its seal is accepted now.
RepairReport with_accepted(RepairReport report, const RepairReport& accepted) {
  report.actions.insert(report.actions.end(), accepted.actions.begin(), accepted.actions.end());
  report.left = accepted.left;
  return report;
}

Result<ExitStatus> run_repair(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  Result<RepairReport> report = [&] {
    Progress progress(tool, "repair");
    return memory.repair(
        tool.args().all("session"),
        [&](std::uint64_t done, std::uint64_t total) { progress.show(done, total); },
        [&](const std::string& session_id) {
          return is_on_another_branch(memory.root(),
                                      fmt::format("sessions/{}/manifest.json", session_id));
        });
  }();
  if (!report) {
    return report.error();
  }
  if (tool.args().has("accept")) {
    BMAD_TRY_ASSIGN(const RepairReport accepted, memory.accept_changes(tool.args().all("session")));
    report = with_accepted(std::move(*report), accepted);
  }
  if (tool.json()) {
    print_json(tool, *report);
  } else {
    print_text(tool, *report);
  }
  return report->left.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

constexpr Option kRepairOptions[] = {
    kSessionFilter,
    {.name = "accept", .help = "keep lines that were changed by hand: seal them as they are"},
};

constexpr Example kRepairExamples[] = {
    {.command = "bmad-mem repair", .says = "the whole memory"},
    {.command = "bmad-mem repair --accept", .says = "and keep what was edited by hand"},
    {.command = "bmad-mem repair && bmad-mem verify", .says = "and look again"},
};

}  // namespace

const Command kRepair = {
    .name = "repair",
    .group = Group::kCare,
    .summary = "mend what verify finds, dropping nothing",
    .description =
        "Moves lines that are no entries to the session's quarantine.jsonl, verbatim and with the "
        "reason; mends torn tails; makes a missing manifest anew, and from the archive what stands "
        "beside it; removes what interrupted writes left. What a newer bmad-mem wrote is not "
        "touched. Running it again changes nothing.\n\n"
        "With --accept, lines that are not as they were written stay as they are, and `verify` "
        "names them no more.",
    .options = kRepairOptions,
    .examples = kRepairExamples,
    .exit_status =
        "0 all is mended, 1 something is left for a person, or the repair failed, "
        "2 wrong usage.",
    .run = run_repair,
};

}  // namespace bmad_mem::cli
