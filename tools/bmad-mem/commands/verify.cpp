// verify - checks every byte and reports what is wrong, file by file.
#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "filters.hpp"
#include "findings.hpp"
#include "progress.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

void print_summary(Tool& tool, const VerifyReport& report) {
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().key("summary").begin_object();
    json.member("sessions", report.sessions).member("logs", report.logs);
    json.member("lines", report.lines).member("bytes", report.bytes);
    json.member("findings", static_cast<std::uint64_t>(report.findings.size()));
    json.end_object().end_object();
    tool.out().print("{}\n", json.text());
    return;
  }
  const std::string looked_at =
      fmt::format("{}, {}, {}, {}", format_count(report.sessions, "session", "sessions"),
                  format_count(report.logs, "log", "logs"),
                  format_count(report.lines, "line", "lines"), format_size(report.bytes));
  if (report.findings.empty()) {
    tool.out().print("{}: {}\n", tool.style().green("all good"), looked_at);
  } else {
    tool.out().print("{} in {}\n",
                     tool.style().red(format_count(report.findings.size(), "finding", "findings")),
                     looked_at);
    tool.note("`bmad-mem repair` mends what can be mended, and drops nothing");
  }
}

Result<ExitStatus> run_verify(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const Result<VerifyReport> report = [&] {
    Progress progress(tool, "verify");
    return memory.verify(tool.args().all("session"), [&](std::uint64_t done, std::uint64_t total) {
      progress.show(done, total);
    });
  }();
  if (!report) {
    return report.error();
  }
  print_findings(tool, report->findings);
  print_summary(tool, *report);
  return report->findings.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

constexpr Option kVerifyOptions[] = {kSessionFilter};

constexpr Example kVerifyExamples[] = {
    {.command = "bmad-mem verify", .says = "the whole memory"},
    {.command = "bmad-mem verify --session sess-2026-01-11-4q7m2s", .says = "one session"},
};

}  // namespace

const Command kVerify = {
    .name = "verify",
    .group = Group::kCare,
    .summary = "check all files and report damage",
    .description =
        "Checks every line of every log, the manifests and config.json, and prints "
        "file:line:column: reason for each thing that is wrong. Changes nothing.\n\n"
        "A torn tail is what a writer that was killed left behind the last whole line. It was "
        "never acknowledged, and the next write mends it.",
    .options = kVerifyOptions,
    .examples = kVerifyExamples,
    .exit_status = "0 nothing found, 1 something was found, or the check failed, 2 wrong usage.",
    .run = run_verify,
};

}  // namespace bmad_mem::cli
