// session archive - packs sessions that are over into one file each.
#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

void print_report(Tool& tool, const ArchiveReport& report, bool dry_run) {
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("session_id", report.session_id);
    json.member("state", dry_run ? "would be archived" : "archived");
    json.member("path", report.path).member("files", report.files);
    json.member("original_bytes", report.original_bytes);
    json.member("compressed_bytes", report.compressed_bytes).member("kept", report.kept);
    json.end_object();
    tool.out().print("{}\n", json.text());
    return;
  }
  tool.out().print(
      "{} {}: {}, {} {} {}; {} searchable\n", dry_run ? "would archive" : "archived",
      tool.style().id(report.session_id), format_count(report.files, "file", "files"),
      format_size(report.original_bytes), dry_run ? "would become" : "became",
      format_size(report.compressed_bytes),
      report.kept == 1 ? "1 entry stays" : format_count(report.kept) + " entries stay");
}

Result<ExitStatus> run_session_archive(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const bool dry_run = tool.args().has("dry-run");
  ExitStatus status = ExitStatus::kDone;
  for (const std::string& id : tool.args().positionals()) {
    if (const Result<ArchiveReport> report = memory.archive_session(id, {.dry_run = dry_run})) {
      print_report(tool, *report, dry_run);
      if (!report->notice.empty()) {
        tool.note(report->notice);
      }
    } else {
      tool.report(report.error());
      status = ExitStatus::kFailed;
    }
  }
  return status;
}

constexpr Positional kSessionArchivePositionals[] = {
    {.name = "ID", .help = "the session", .max = 0, .completion = Completion::kSession},
};

constexpr Option kSessionArchiveOptions[] = {
    {.name = "dry-run", .help = "show what would be packed; change nothing"},
};

constexpr Example kSessionArchiveExamples[] = {
    {.command = "bmad-mem session archive sess-2026-01-11-4q7m2s", .says = "pack one"},
    {.command = "bmad-mem query --archived=only why postgres", .says = "ask archives alone"},
};

}  // namespace

const Command kSessionArchive = {
    .name = "session archive",
    .group = Group::kStart,
    .summary = "pack sessions into one file each",
    .description =
        "Packs sessions into archive/ID.tar.gz, each checked by reading it back before the folder "
        "goes. Its entries are found as before and marked `archived`; `--archived=no` of query, "
        "list, similar, related, topics and timeline leaves them out.\n\n"
        "A write to an archived session brings it back by itself, and so does `session restore`.",
    .positionals = kSessionArchivePositionals,
    .options = kSessionArchiveOptions,
    .examples = kSessionArchiveExamples,
    .exit_status = "0 done, 1 failed, or one of the sessions was refused, 2 wrong usage.",
    .run = run_session_archive,
};

}  // namespace bmad_mem::cli
