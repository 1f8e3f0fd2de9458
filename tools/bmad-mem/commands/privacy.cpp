// privacy.cpp - what is removed permanently, what is kept for how long, and whose memory it is: a
// foreign one is shown, and becomes the user's own.
#include "bmad_mem/privacy.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/trust.hpp"
#include "cli/filters.hpp"
#include "cli/hub_door.hpp"
#include "cli/output.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "exchange/git/git_program.hpp"
#include "exchange/workspaces.hpp"
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
  return text ? verify_at_hub(tool, verify_gone(tool, memory, *text)) : ExitStatus::kDone;
}

namespace {

/// What a purge of sessions does not reach, said rather than passed over.
Status note_the_rest(Tool& tool, const MemoryManager& memory, const Workspace& workspace) {
  BMAD_TRY_ASSIGN(const std::vector<Deletion> deletions, memory.deletions());
  describe(tool, "forgotten", "had_deleted",
           std::ranges::any_of(deletions, &Deletion::whole_session), "path", workspace.path);
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
  const bool lists = options.dry_run || is_asked(tool);
  for (const WorkspaceSession& session : lists ? sessions : std::vector<WorkspaceSession>()) {
    show(tool, "workspace_session", shaped(shape::workspace_session, session));
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
  return tool.args().has("verify") ? verify_at_hub(tool, verify_sessions(tool, memory, sessions))
                                   : ExitStatus::kDone;
}

}  // namespace

Result<ExitStatus> run_forget(Tool& tool) {
  const Arguments& args = tool.args();
  if (!args.positionals().empty()) {
    return drop_statements(tool, args.positionals());
  }
  BMAD_TRY_ASSIGN(const std::string text, read_match(args));
  if (args.has("verify")) {
    pull_to_verify(tool);
  }
  if (!text.empty()) {
    BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
    return delete_and_verify(tool, memory, {.match = text},
                             {.dry_run = args.has("dry-run"), .purge = true});
  }
  if (args.value("workspace").empty()) {
    return bad_value("workspace", "the name of the folder is empty");
  }
  return forget_workspace(tool, args.value("workspace"));
}

namespace {

constexpr std::array<std::string_view, 8> kActionNames = {"delete",  "undelete", "purge", "compact",
                                                          "archive", "restore",  "decay", "redact"};

Result<AuditFilter> read_audit_filter(const Arguments& args) {
  BMAD_TRY_ASSIGN(EntryFilter filter, read_filter(args, system_clock().now()));
  AuditFilter audit{.sessions = std::move(filter.sessions),
                    .since = filter.since,
                    .until = filter.until,
                    .limit = filter.limit,
                    .offset = filter.offset};
  audit.actions = args.all("action");
  return audit;
}

}  // namespace

Result<ExitStatus> run_audit(Tool& tool, MemoryManager& memory) {
  for (const std::string& action : tool.args().all("action")) {
    if (std::ranges::find(kActionNames, action) == kActionNames.end()) {
      return tool.wrong_usage(
          fmt::format("--action takes {}, not '{}'", fmt::join(kActionNames, ", "), action));
    }
  }
  BMAD_TRY_ASSIGN(const AuditFilter filter, read_audit_filter(tool.args()));
  BMAD_TRY_ASSIGN(const std::vector<AuditRecord> records, memory.audit(filter));
  if (records.empty()) {
    return tool.note("nothing was removed or moved");
  }
  show_all(tool, "audit", shape::audit_record, records);
  if (filter.limit != 0 && records.size() == filter.limit) {
    tool.note(fmt::format("showing the newest {}; use --limit N for more", filter.limit));
  }
  return ExitStatus::kDone;
}

namespace {

void print_privacy(Tool& tool, const PrivacyReport& report) {
  constexpr std::size_t kShownMax = 20;
  const auto is_any = [](const KeptEntries& kept) {
    return kept.entries + kept.archived + kept.evicted > 0;
  };
  std::uint64_t secrets = 0;
  for (const auto& [rule, count] : report.redacted) {
    secrets += count;
  }
  show(tool, "privacy", shaped(shape::privacy, report), "any_kept",
       std::ranges::any_of(report.kept, is_any), "secrets", secrets, "more",
       std::max(report.sensitive.size(), kShownMax) - kShownMax);
}

/// Why entries are kept from models: what of them comes near a secret, never the text.
Status print_near(Tool& tool, const MemoryManager& memory, const PrivacyReport& report) {
  BMAD_TRY_ASSIGN(const SecretScanner scanner, memory.scanner());
  std::vector<RawJson> lines;
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
      lines.push_back(raw_json(json_object(shaped(shape::near_secret, place, entry))));
    }
  }
  print_lines(tool, "near_secrets", lines);
  return {};
}

}  // namespace

Result<ExitStatus> run_privacy(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const PrivacyReport report, memory.privacy_report(tool.args().all("session")));
  if (tool.args().has("near")) {
    BMAD_TRY(print_near(tool, memory, report));
  } else {
    print_privacy(tool, report);
  }
  note_sealed(tool, memory, tool.args().all("session"));
  tool.report_all(report.problems);
  return report.problems.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

namespace {

void print_text(Tool& tool, const TrustReport& report, const TrustOffer& offer) {
  constexpr std::size_t kTextsMax = 40;
  const std::size_t shown =
      tool.args().has("all") ? offer.texts.size() : std::min(kTextsMax, offer.texts.size());
  std::vector<std::string> values;
  for (const WaitingSetting& setting : offer.settings) {
    values.push_back(fmt::format("{}: {}", setting.key, setting.value));
  }
  std::vector<std::string> programs;
  for (const ConfiguredProgram& program : report.programs) {
    programs.push_back(fmt::format("{}: {}", program.setting, fmt::join(program.command, " ")));
  }
  describe(tool, "trust", "root", report.root, "trust", root_trust_name(report.trust), "changed",
           report.config_changed, "reason", report.reason, "offers", some_by_type(offer.lines),
           "sealed_lines", offer.sealed_lines, "by_agents", some_by_type(offer.by_agents), "texts",
           shaped(shape::offered_text,
                  std::vector(offer.texts.begin(),
                              offer.texts.begin() + static_cast<std::ptrdiff_t>(shown))),
           "more", offer.texts.size() - shown, "files", offer.files, "values", values, "switches",
           offer.switches, "programs", programs);
}

}  // namespace

Result<ExitStatus> run_trust(Tool& tool) {
  // What was trusted may be invalid by now; trusting another config.json ends that.
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open({}, {}, /*tolerate_bad_config=*/true));
  if (tool.args().has("revoke")) {
    if (tool.is_for_user() || memory.root() == tool.user_root()) {
      return invalid_query("revoke",
                           "your own memory is in no project, so nobody else can have made it: "
                           "it stays trusted; delete what is wrong in it");
    }
    BMAD_TRY(check_is_person(tool, "take back that you trust this memory?"));
    const ActingAs person(Origin::kPerson);
    BMAD_TRY_ASSIGN(const TrustReport report, memory.revoke_trust());
    return show(tool, "trust_revoked", shaped(shape::trust, report, TrustOffer()));
  }
  TrustReport report = memory.trust_report();
  BMAD_TRY_ASSIGN(const TrustOffer offer, trust_offer(memory));
  if (!tool.json()) {
    print_text(tool, report, offer);
  }
  if (!tool.args().has("yes") && !is_asked(tool)) {
    if (tool.json()) {
      print_object(tool, shaped(shape::trust, report, offer));
    }
    tool.note(
        "nothing was changed; read this, then run `bmad-mem trust` in a terminal, or with --yes");
    return report.is_foreign() || report.config_changed ? ExitStatus::kFailed : ExitStatus::kDone;
  }
  constexpr std::string_view kQuestion = "trust this memory?";
  if (tool.args().has("yes") || !tool.agent_sign().empty()) {
    BMAD_TRY(check_is_person(tool, kQuestion));
  } else if (!is_confirmed(tool, kQuestion)) {
    return ExitStatus::kFailed;
  }
  const ActingAs person(Origin::kPerson);
  BMAD_TRY_ASSIGN(report, memory.trust());
  return show(tool, "trusted", shaped(shape::trust, report, offer));
}

}  // namespace bmad_mem::cli
