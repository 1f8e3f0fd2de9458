// compact - makes room in sessions: old versions, repetitions, what counts least.
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "filters.hpp"
#include "removed_view.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
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
  double percent = 0;
  const auto [stop, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  if (problem != std::errc() || stop != digits.data() + digits.size() ||
      !(percent > 0 && percent <= 100)) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("'{}' is no share; write a number above 0 and up to 100, "
                                        "in percent",
                                        *given),
                 .field = "keep"};
  }
  return std::optional<double>(percent / 100);
}

/// --session, or all with --all, else the one session that is open.
Result<std::vector<std::string>> chosen_sessions(Tool& tool, const MemoryManager& memory) {
  std::vector<std::string> ids(tool.args().all("session").begin(),
                               tool.args().all("session").end());
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

void print_as_json(Tool& tool, const CompactionReport& report, bool dry_run) {
  print_removed(tool, report.removed);
  JsonWriter json;
  json.begin_object().key("summary").begin_object();
  json.member("session_id", report.session_id).member("dry_run", dry_run);
  json.member("superseded", report.superseded).member("duplicates", report.duplicates);
  json.member("evicted", report.evicted);
  json.member("entries_before", report.entries_before)
      .member("entries_after", report.entries_after);
  json.member("bytes_before", report.bytes_before).member("bytes_after", report.bytes_after);
  json.member("trigger_bytes", report.trigger_bytes);
  if (!report.evicted_file.empty()) {
    json.member("evicted_file", report.evicted_file);
  }
  json.end_object().end_object();
  tool.out().print("{}\n", json.text());
}

void print_report(Tool& tool, const CompactionReport& report, bool dry_run) {
  if (tool.json()) {
    print_as_json(tool, report, dry_run);
    return;
  }
  if (dry_run) {
    print_removed(tool, report.removed);
  }
  const std::string id = tool.style().id(report.session_id);
  if (report.removed.empty()) {
    tool.out().print("{}: nothing {} ({}, {})\n", id, dry_run ? "would go" : "went",
                     format_count(report.entries_after, "entry", "entries"),
                     format_size(report.bytes_after));
    return;
  }
  tool.out().print("{}: {}{} of older versions, {}, {} evicted; {} of {} left, {} of {}\n", id,
                   dry_run ? "would remove " : "", format_count(report.superseded, "line", "lines"),
                   format_count(report.duplicates, "duplicate", "duplicates"),
                   format_count(report.evicted), format_count(report.entries_after),
                   format_count(report.entries_before, "entry", "entries"),
                   format_size(report.bytes_after), format_size(report.bytes_before));
  if (report.evicted > 0 && !dry_run) {
    tool.note(fmt::format("`bmad-mem restore --evicted --session {}` brings back what was evicted",
                          report.session_id));
  }
}

Result<ExitStatus> run_compact(Tool& tool) {
  const Arguments& args = tool.args();
  if (args.has("all") && args.has("session")) {
    return tool.wrong_usage("--all is every session; leave out --session");
  }
  BMAD_TRY_ASSIGN(const std::optional<double> keep, read_keep(args));
  const bool dry_run = args.has("dry-run");
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, chosen_sessions(tool, memory));
  ExitStatus status = ExitStatus::kDone;
  for (const std::string& id : ids) {
    const Result<CompactionReport> report =
        memory.compact(id, {.dry_run = dry_run, .keep_share = keep});
    if (report) {
      print_report(tool, *report, dry_run);
    } else {
      tool.report(report.error());  // One that is damaged must not keep the others large.
      status = ExitStatus::kFailed;
    }
  }
  return status;
}

constexpr Option kCompactOptions[] = {
    {.name = "session",
     .value = "ID",
     .help = "this session",
     .repeatable = true,
     .fallback = "$BMAD_SESSION, else the one session that is open",
     .completion = Completion::kSession},
    {.name = "all", .help = "every session"},
    {.name = "keep",
     .value = "PERCENT",
     .help = "how many of the entries stay; 100 only folds versions and repetitions",
     .fallback = "that of config.json: 80"},
    {.name = "dry-run", .help = "show what would go and why, a line each; change nothing"},
};

constexpr Example kCompactExamples[] = {
    {.command = "bmad-mem compact --session $S --dry-run", .says = "what would go, and why"},
    {.command = "bmad-mem compact --session $S", .says = "let it go"},
    {.command = "bmad-mem compact --all --keep 100",
     .says = "drop old versions and repetitions only, everywhere"},
};

}  // namespace

const Command kCompact = {
    .name = "compact",
    .group = Group::kCare,
    .summary = "make room: old versions, repetitions, what counts least",
    .description =
        "Moves out of the logs, into archive/ID.evicted.jsonl.gz: older versions of entries, "
        "entries "
        "that repeat another word by word, and those that count least: relevance without a query, "
        "that is decay, importance and use. Pinned entries, open findings of high severity, "
        "approved "
        "decisions and what a kept entry refers to stay.\n\n"
        "Writing does this by itself when a session has grown to its trigger; nobody has to call "
        "it. Readers never wait for it. `restore --evicted` is the way back.",
    .options = kCompactOptions,
    .examples = kCompactExamples,
    .run = run_compact,
};

}  // namespace bmad_mem::cli
