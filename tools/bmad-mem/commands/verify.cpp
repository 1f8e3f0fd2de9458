// verify - checks every byte and reports what is wrong, file by file.
#include <algorithm>
#include <iterator>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "filters.hpp"
#include "findings.hpp"
#include "progress.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

bool is_newer(const Finding& finding) { return finding.kind == FindingKind::kNewerVersion; }

void print_summary(Tool& tool, const VerifyReport& report) {
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().key("summary").begin_object();
    json.member("sessions", report.sessions).member("logs", report.logs);
    json.member("lines", report.lines).member("bytes", report.bytes);
    json.member("findings", static_cast<std::uint64_t>(report.findings.size()));
    json.member("changes", static_cast<std::uint64_t>(report.changes.size()));
    json.end_object().end_object();
    tool.out().print("{}\n", json.text());
    return;
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
    tool.note("`bmad-mem repair --accept` keeps the changes and ends these lines");
  } else {
    tool.out().print("{} in {}\n",
                     tool.style().red(format_count(report.findings.size(), "finding", "findings")),
                     looked_at);
    if (!std::ranges::all_of(report.findings, is_newer)) {
      tool.note("`bmad-mem repair` mends what can be mended, and drops nothing");
    }
  }
}

void print_changes(Tool& tool, std::span<const Finding> changes) {
  if (!tool.json()) {
    print_findings(tool, changes);
    return;
  }
  for (const Finding& change : changes) {
    tool.out().print("{{\"change\":{}}}\n", finding_as_json(change));
  }
}

Result<ExitStatus> run_verify(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  Result<VerifyReport> report = [&] {
    Progress progress(tool, "verify");
    return memory.verify(tool.args().all("session"), [&](std::uint64_t done, std::uint64_t total) {
      progress.show(done, total);
    });
  }();
  if (!report) {
    return report.error();
  }
  if (tool.args().has("seal")) {
    std::ranges::move(report->changes, std::back_inserter(report->findings));
    report->changes.clear();
  }
  print_findings(tool, report->findings);
  print_changes(tool, report->changes);
  print_summary(tool, *report);
  return report->findings.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

constexpr Option kVerifyOptions[] = {
    kSessionFilter,
    {.name = "seal", .help = "count lines that were changed by hand as findings"},
};

constexpr Example kVerifyExamples[] = {
    {.command = "bmad-mem verify", .says = "the whole memory"},
    {.command = "bmad-mem verify --seal", .says = "changes by hand are findings, too"},
    {.command = "bmad-mem verify --session sess-2026-01-11-4q7m2s", .says = "one session"},
};

}  // namespace

const Command kVerify = {
    .name = "verify",
    .group = Group::kCare,
    .summary = "check all files and report damage",
    .description =
        "Checks all that is stored: every line of every log, the manifests, every file in an "
        "archive, what was evicted, kept or deleted, audit logs, memories/ and config.json. Prints "
        "file:line:column: reason for each thing that is wrong. Changes nothing.\n\n"
        "What is derived, such as an index, is no finding: who needs it makes it again.\n\n"
        "Compares the lines with the seal, which says what this machine has written. A line that "
        "differs in a file that nobody has changed is damage. A line that was changed by hand is "
        "told, and is a finding with --seal. What git has put there is neither.\n\n"
        "A torn tail is what a writer that was killed left behind the last whole line. It was "
        "never acknowledged, and the next write mends it.",
    .options = kVerifyOptions,
    .examples = kVerifyExamples,
    .exit_status = "0 nothing found, 1 something was found, or the check failed, 2 wrong usage.",
    .run = run_verify,
};

}  // namespace bmad_mem::cli
