// privacy.cpp - what is removed permanently, and what is kept for how long.
#include "bmad_mem/privacy.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/filters.hpp"
#include "cli/hub_door.hpp"
#include "cli/output.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "exchange/git/git_history.hpp"
#include "exchange/workspaces.hpp"
#include "operation_calls.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

Result<ExitStatus> run_purge(Tool& tool) {
  const bool all = tool.args().has("all");
  const auto text = tool.args().maybe("verify");
  if (text && text->empty()) {
    return bad_value("verify", "the text to look for is empty");
  }
  if (text) {
    pull_to_verify(tool);
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (all && !is_confirmed(tool, "permanently purge all deletions?")) {
    return ExitStatus::kFailed;
  }
  BMAD_TRY_ASSIGN(const DeletionReport report, memory.purge_deleted(all));
  const bool nothing = report.entries == 0 && report.sessions_gone.empty();
  if (nothing && !tool.json()) {
    tool.note(
        all ? "nothing is deleted"
            : "nothing to purge yet: all deletions can still be undone; --all purges them too");
  } else {
    print_deletion(tool, report, {.dry_run = false, .purge = true});
  }
  if (!text) {
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const ExitStatus status, verify_gone(tool, memory, *text));
  return verify_at_hub(tool, status);
}

namespace {

Result<ExitStatus> forget_text(Tool& tool, const std::string& text) {
  const DeleteOptions options{.dry_run = tool.args().has("dry-run"), .purge = true};
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(ExitStatus status, delete_and_tell(tool, memory, {.match = text}, options));
  if (!tool.args().has("verify") || status != ExitStatus::kDone) {
    return status;
  }
  BMAD_TRY_ASSIGN(status, verify_gone(tool, memory, text));
  return verify_at_hub(tool, status);
}

void print_sessions(Tool& tool, const std::vector<WorkspaceSession>& sessions) {
  if (tool.json()) {
    print_objects(tool, shape::workspace_session, sessions);
    return;
  }
  for (const WorkspaceSession& session : sessions) {
    tool.out().print("{}  {}  {}\n", tool.style().id(session.session_id), session.state,
                     printable(session.named));
  }
}

/// What a purge of sessions does not reach, said rather than passed over.
Status note_the_rest(Tool& tool, const MemoryManager& memory, const Workspace& workspace) {
  BMAD_TRY_ASSIGN(const std::vector<Deletion> deletions, memory.deletions());
  if (std::ranges::any_of(deletions, &Deletion::whole_session)) {
    tool.note(
        "sessions that were deleted before aren't asked where they belong; `bmad-mem purge "
        "--all` removes them, too");
  }
  tool.note(
      fmt::format("entries of other sessions that name the folder stay; `bmad-mem forget "
                  "--match '{}'` purges those",
                  printable(workspace.path)));
  return {};
}

Result<ExitStatus> verify_sessions(Tool& tool, const MemoryManager& memory,
                                   const std::vector<WorkspaceSession>& sessions) {
  std::vector<std::string> paths;
  for (const WorkspaceSession& session : sessions) {
    paths.push_back("sessions/" + session.session_id);
    for (const std::string_view ending :
         {".tar.gz", ".manifest.json", ".evicted.jsonl.gz", ".evicted.*.jsonl.gz"}) {
      paths.push_back(fmt::format("archive/{}{}", session.session_id, ending));
    }
    paths.push_back("shared/kept/" + session.session_id + ".jsonl");
  }
  return print_git_search(tool, search_git_paths(memory.root(), paths));
}

Result<ExitStatus> forget_workspace(Tool& tool, std::string_view folder) {
  const Workspace workspace = workspace_of(folder);
  const DeleteOptions options{.dry_run = tool.args().has("dry-run"), .purge = true};
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<WorkspaceSession> sessions,
                  sessions_of_workspace(memory, workspace));
  if (options.dry_run || is_asked(tool)) {
    print_sessions(tool, sessions);
  }
  if (sessions.empty()) {
    tool.note(fmt::format("no session names the workspace {} or {}", printable(workspace.path),
                          printable(workspace.name)));
  } else if (!options.dry_run) {
    if (!is_confirmed(tool, fmt::format("permanently purge {}?",
                                        format_count(sessions.size(), "session", "sessions")))) {
      return ExitStatus::kFailed;
    }
    std::vector<DeletionReport> reports;
    const auto purge = [&](const MemoryManager::Progress& show) -> Status {
      for (const WorkspaceSession& session : sessions) {
        show(reports.size(), sessions.size());
        BMAD_TRY_ASSIGN(DeletionReport report, memory.delete_session(session.session_id, options));
        reports.push_back(std::move(report));
      }
      return {};
    };
    const Status purged = with_progress(tool, "forget", purge, "sessions");
    for (const DeletionReport& report : reports) {
      print_deletion(tool, report, options);
    }
    BMAD_TRY(purged);
  }
  BMAD_TRY(note_the_rest(tool, memory, workspace));
  if (!tool.args().has("verify")) {
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const ExitStatus status, verify_sessions(tool, memory, sessions));
  return verify_at_hub(tool, status);
}

}  // namespace

Result<ExitStatus> run_forget(Tool& tool) {
  const Arguments& args = tool.args();
  const bool names_one = args.has("workspace") != args.has("match");
  if (names_one != args.positionals().empty()) {
    return tool.wrong_usage("give either IDs, or --workspace DIR, or --match TEXT");
  }
  if (!names_one) {
    return drop_statements(tool, args.positionals());
  }
  if (args.has("verify") && args.has("dry-run")) {
    return tool.wrong_usage("--verify looks whether all is gone; it makes no sense with --dry-run");
  }
  BMAD_TRY_ASSIGN(const std::string text, read_match(args));
  if (args.has("verify")) {
    pull_to_verify(tool);
  }
  if (!text.empty()) {
    return forget_text(tool, text);
  }
  if (args.value("workspace").empty()) {
    return bad_value("workspace", "the name of the folder is empty");
  }
  return forget_workspace(tool, args.value("workspace"));
}

namespace {

constexpr std::array<std::string_view, 8> kActionNames = {"delete",  "undelete", "purge", "compact",
                                                          "archive", "restore",  "decay", "redact"};

/// Ids that a line for people shows.
constexpr std::size_t kIdsShown = 3;

std::string ids_text(const AuditRecord& record) {
  std::string out;
  for (std::size_t i = 0; i < record.ids.size() && i < kIdsShown; ++i) {
    out += (i == 0 ? "" : ", ") + printable(record.ids[i]);
  }
  if (record.ids.size() > kIdsShown) {
    out += ", …";
  }
  return out;
}

void print_records(Tool& tool, const std::vector<AuditRecord>& records) {
  std::vector<TableRow> rows = {{"time", "session", "who", "action", "count", "ids", "detail"}};
  for (const AuditRecord& record : records) {
    rows.push_back({shown_minute(record.at), record.session_id, printable(record.agent_id),
                    record.action, format_count(record.count), ids_text(record),
                    printable(record.detail)});
  }
  print_table(tool, rows, "llllrll");
}

Result<AuditFilter> read_audit_filter(const Arguments& args) {
  BMAD_TRY_ASSIGN(EntryFilter filter, read_filter(args, system_clock().now()));
  AuditFilter audit{.sessions = std::move(filter.sessions),
                    .actions = {},
                    .since = filter.since,
                    .until = filter.until,
                    .limit = filter.limit,
                    .offset = filter.offset};
  audit.actions = args.all("action");
  return audit;
}

}  // namespace

Result<ExitStatus> run_audit(Tool& tool) {
  for (const std::string& action : tool.args().all("action")) {
    if (std::ranges::find(kActionNames, action) == kActionNames.end()) {
      return tool.wrong_usage(
          fmt::format("--action takes {}, not '{}'", fmt::join(kActionNames, ", "), action));
    }
  }
  BMAD_TRY_ASSIGN(const AuditFilter filter, read_audit_filter(tool.args()));
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<AuditRecord> records, memory.audit(filter));
  if (tool.json()) {
    print_objects(tool, shape::audit_record, records);
  } else if (records.empty()) {
    tool.note("nothing was removed or moved");
  } else {
    print_records(tool, records);
    if (filter.limit != 0 && records.size() == filter.limit) {
      tool.note(fmt::format("showing the newest {}; use --limit N for more", filter.limit));
    }
  }
  return ExitStatus::kDone;
}

namespace {

std::string kept_for(std::int64_t days) {
  return days == 0 ? std::string("for ever")
                   : format_count(static_cast<std::uint64_t>(days), "day", "days");
}

std::uint64_t sum_of(const RedactionCounts& counts) {
  std::uint64_t sum = 0;
  for (const auto& [rule, count] : counts) {
    sum += count;
  }
  return sum;
}

void print_kept(Tool& tool, const PrivacyReport& report, Timestamp now) {
  std::vector<TableRow> rows = {
      {"TYPE", "ENTRIES", "SIZE", "OLDEST", "ARCHIVED", "EVICTED", "KEPT", "EXPIRED", "SENSITIVE"}};
  for (const KeptEntries& kept : report.kept) {
    if (kept.entries + kept.archived + kept.evicted > 0) {
      rows.push_back({std::string(entry_type_name(kept.type)), format_count(kept.entries),
                      format_size(kept.bytes), kept.oldest ? format_age(*kept.oldest, now) : "",
                      format_count(kept.archived), format_count(kept.evicted),
                      kept_for(kept.retention_days), format_count(kept.expired),
                      format_count(kept.sensitive)});
    }
  }
  if (rows.size() == 1) {
    tool.out().print("no entries\n");
    return;
  }
  print_table(tool, rows);
}

void print_redacted(Tool& tool, const PrivacyReport& report) {
  tool.out().print(
      "\n{}{}\n", format_count(sum_of(report.redacted), "secret", "secrets"),
      report.redacts ? " taken out before writing" : " taken out; redaction is off in config.json");
  print_counts(tool, report.redacted);
}

void print_sensitive(Tool& tool, const PrivacyReport& report) {
  if (report.sensitive.empty()) {
    return;
  }
  constexpr std::size_t kShownMax = 20;
  tool.out().print(
      "\n{} kept from models\n",
      format_count(report.sensitive.size(), "sensitive entry is", "sensitive entries are"));
  for (std::size_t i = 0; i < std::min(report.sensitive.size(), kShownMax); ++i) {
    const SensitiveEntry& entry = report.sensitive[i];
    tool.out().print("  {}  {}  {}\n", tool.style().id(entry.id), entry_type_name(entry.type),
                     entry.session_id);
  }
  if (report.sensitive.size() > kShownMax) {
    tool.out().print("  and {} more; --json lists all\n",
                     format_count(report.sensitive.size() - kShownMax));
  }
}

/// Why entries are kept from models: what of them comes near a secret, never the text.
Status print_near(Tool& tool, const MemoryManager& memory, const PrivacyReport& report) {
  BMAD_TRY_ASSIGN(const SecretScanner scanner, memory.scanner());
  std::vector<TableRow> rows = {{"ID", "TYPE", "SESSION", "WHAT", "SIZE"}};
  for (const SensitiveEntry& entry : report.sensitive) {
    const std::vector<std::string> ids = {entry.id};
    const std::vector<std::string> sessions = {entry.session_id};
    const Result<std::vector<Entry>> found = memory.get(ids, sessions);
    std::vector<SecretPlace> places =
        found && !found->empty() ? scanner.find(found->front().json) : std::vector<SecretPlace>();
    if (places.empty()) {
      places.push_back({.what = "marked when it was written"});
    }
    for (const SecretPlace& place : places) {
      if (tool.json()) {
        print_object(tool, shaped(shape::near_secret, place, entry));
        continue;
      }
      rows.push_back(
          {entry.id, std::string(entry_type_name(entry.type)), entry.session_id,
           place.rule.empty() ? place.what : fmt::format("{} ({})", place.rule, place.what),
           place.rule.empty() ? "" : format_size(place.end - place.begin)});
    }
  }
  if (report.sensitive.empty()) {
    tool.note("no entry comes near a secret");
  } else if (!tool.json()) {
    print_table(tool, rows, "llllr");
  }
  return {};
}

void print_elsewhere(Tool& tool, const PrivacyReport& report, Timestamp now) {
  if (report.archived_sessions > 0 || report.evicted_entries > 0) {
    tool.out().print("\n{} and {} in archive/\n",
                     format_count(report.archived_sessions, "session", "sessions"),
                     format_count(report.evicted_entries, "evicted entry", "evicted entries"));
  }
  if (report.deleted.empty()) {
    return;
  }
  tool.out().print("\ndeleted, can still be restored:\n");
  for (const Deletion& deletion : report.deleted) {
    tool.out().print("  {}  {}, purged {}\n", tool.style().id(deletion.session_id),
                     deletion.whole_session ? std::string("the whole session")
                                            : format_count(deletion.entries, "entry", "entries"),
                     format_age(deletion.expires_at, now));
  }
}

}  // namespace

Result<ExitStatus> run_privacy(Tool& tool) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const PrivacyReport report, memory.privacy_report(tool.args().all("session")));
  if (tool.args().has("near")) {
    BMAD_TRY(print_near(tool, memory, report));
  } else if (tool.json()) {
    print_object(tool, shaped(shape::privacy, report));
  } else {
    const Timestamp now = system_clock().now();
    print_kept(tool, report, now);
    print_redacted(tool, report);
    print_sensitive(tool, report);
    print_elsewhere(tool, report, now);
  }
  note_sealed(tool, memory, tool.args().all("session"));
  tool.report_all(report.problems);
  return report.problems.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace bmad_mem::cli
