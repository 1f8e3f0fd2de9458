// privacy.cpp - what is removed permanently, what is kept for how long, whose memory it is: a
// foreign one is shown, and becomes the user's own; and what is encrypted, opened, or encrypted
// with another key.
#include "bmad_mem/privacy.hpp"

#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/trust.hpp"
#include "cli/filters.hpp"
#include "cli/hub_interface.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "exchange/files.hpp"
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
  const auto is_any = [](const RetainedEntries& kept) {
    return kept.entries + kept.archived + kept.evicted > 0;
  };
  const std::uint64_t secrets = sum_of(std::views::values(report.redacted), std::identity());
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
      lines.push_back(raw_object(shaped(shape::near_secret, place, entry)));
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
  note_encrypted(tool, memory, tool.args().all("session"));
  tool.report_all(report.problems);
  return report.problems.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

namespace {

void print_text(Tool& tool, const TrustReport& report, const TrustOffer& offer) {
  constexpr std::size_t kTextsMax = 40;
  const std::size_t shown =
      tool.args().has("all") ? offer.texts.size() : std::min(kTextsMax, offer.texts.size());
  const auto values = mapped(offer.settings, [](const WaitingSetting& setting) {
    return fmt::format("{}: {}", setting.key, setting.value);
  });
  const auto programs = mapped(report.programs, [](const ConfiguredProgram& program) {
    return fmt::format("{}: {}", program.setting, fmt::join(program.command, " "));
  });
  describe(tool, "trust", "root", report.root, "trust", root_trust_name(report.trust), "changed",
           report.config_changed, "reason", report.reason, "offers", some_by_type(offer.lines),
           "encrypted_lines", offer.encrypted_lines, "by_agents", some_by_type(offer.by_agents),
           "texts", shaped(shape::offered_text, std::span(offer.texts).first(shown)), "more",
           offer.texts.size() - shown, "files", offer.files, "values", values, "switches",
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

namespace {

/// A line of the terminal that is not shown.
Result<std::string> ask_secret(std::string_view question) {
  const Error none{.code = ErrorCode::E_INVALID_QUERY,
                   .message =
                       "there is no terminal to ask for the passphrase; put it into "
                       "$BMAD_MEM_PASSPHRASE"};
  termios before{};
  if (::isatty(STDIN_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &before) != 0) {
    return none;
  }
  termios silent = before;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  if (::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) != 0) {
    return none;
  }
  std::string answer = answer_to_question(question);
  static_cast<void>(::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before));
  write_to_stderr("\n");
  return answer;
}

constexpr std::size_t kPassphraseSizeMin = 12;

Result<EncryptionKeySource> passphrase_of(EncryptStep step) {
  BMAD_TRY_ASSIGN(std::string passphrase, ask_secret("Passphrase: "));
  if (step == EncryptStep::kOn) {
    BMAD_TRY_ASSIGN(const std::string again, ask_secret("Again: "));
    if (again != passphrase) {
      return Error{.code = ErrorCode::E_INVALID_FORMAT, .message = "the passphrases differ"};
    }
  }
  return EncryptionKeySource{.passphrase = std::move(passphrase)};
}

void tell_key_file(Tool& tool, const std::string& path, bool is_new, EncryptStep step) {
  const std::string place = printable(std::filesystem::absolute(path).lexically_normal().string());
  describe(tool, "encryption_key_file", "place", place, "is_new", is_new, "is_elsewhere",
           step != EncryptStep::kOff && encryption_key_here().key_file != path);
}

/// By EncryptStep.
constexpr std::array<std::string_view, 3> kQuestions = {
    "encrypt the entries? Losing the key is final: without it nothing opens them.",
    "open all encrypted entries, and write them in clear?",
    "encrypt everything with the new key? Losing it is final."};

/// Asks, and ends encryption where the key is lost.
Result<ExitStatus> give_up(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::uint64_t lines, memory.encrypted_lines());
  if (!is_confirmed(tool, fmt::format("give up {}, and write in clear from now on? sealing.json "
                                      "goes: keep a copy if its passphrase may be found",
                                      format_count(lines, "encrypted line", "encrypted lines")))) {
    return ExitStatus::kFailed;
  }
  BMAD_TRY(memory.encrypt({.step = EncryptStep::kOff, .without_key = true}));
  return show(tool, "given_up",
              object_of("summary", object_of("changed", 0, "whole", lines == 0, "lost", lines)));
}

}  // namespace

Result<ExitStatus> run_encrypt(Tool& tool) {
  const Arguments& args = tool.args();
  const std::string_view name = args.positional(0);
  const EncryptStep step = name == "on"    ? EncryptStep::kOn
                           : name == "off" ? EncryptStep::kOff
                                           : EncryptStep::kRotate;
  if (step != EncryptStep::kOn) {  // Before anybody is asked for anything.
    BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
    if (!is_there(memory.root() + "/sealing.json") && !memory.encryption_state().is_on) {
      return invalid_query("step",
                           "nothing is encrypted in this memory; `bmad-mem encrypt on` begins");
    }
  }
  if (args.has("without-key")) {
    return give_up(tool);
  }
  std::optional<EncryptionKeySource> key;
  if (args.has("passphrase")) {
    BMAD_TRY_ASSIGN(key, passphrase_of(step));
  } else if (args.has("key-file")) {
    key = encryption_key_here();  // With another one in the environment, two are named.
    key->key_file = args.value("key-file");
  }
  const std::string passphrase = key ? key->passphrase : encryption_key_here().passphrase;
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open({}, std::move(key)));
  if (!is_confirmed(tool, kQuestions.at(static_cast<std::size_t>(step)))) {
    return ExitStatus::kFailed;
  }
  const std::string made = args.has("new-key-file") ? std::string(args.value("new-key-file"))
                                                    : std::string(args.value("key-file"));
  const bool is_new = !made.empty() && !is_there(made);
  const EncryptOptions options{.step = step,
                               .sessions = args.all("session"),
                               .sensitive = args.has("sensitive"),
                               .new_key_file = std::string(args.value("new-key-file"))};
  const Result<std::vector<EncryptReport>> reports = with_progress(
      tool, "encrypt",
      [&](const MemoryManager::Progress& show) { return memory.encrypt(options, show); },
      "sessions");
  if (is_there(made) && (reports || is_new)) {  // What was encrypted before an error needs it.
    tell_key_file(tool, made, is_new, step);
  }
  BMAD_TRY(reports ? Status() : Status(reports.error()));
  bool is_whole = !tool.has_left_out();
  std::uint64_t changed = 0;
  for (const EncryptReport& report : *reports) {
    show(tool, "encryption", shaped(shape::encryption, report), "opens", step == EncryptStep::kOff);
    is_whole = is_whole && report.left.empty();
    changed += report.changed;
  }
  const bool is_short = !passphrase.empty() && passphrase.size() < kPassphraseSizeMin;
  show(tool, "encrypted_all",
       object_of("summary", object_of("changed", changed, "whole", is_whole)), "step", name,
       "is_short", is_short, "is_in_git", is_in_git(memory.root()));
  return is_whole ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace bmad_mem::cli
