// doctor.cpp - what a memory needs every day, a line each with its remedy.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/encoder.hpp"
#include "bmad_mem/hub.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/privacy.hpp"
#include "cli/tool.hpp"
#include "cli/view_text.hpp"
#include "cli/views.hpp"
#include "exchange/files.hpp"
#include "exchange/git/installation.hpp"
#include "exchange/import/import_files.hpp"
#include "http/api/shapes.hpp"
#include "http/endpoint.hpp"
#include "install/client_files.hpp"
#include "install/install_plan.hpp"
#include "install/settings_file.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// A line of the report.
struct Check {
  std::string name;
  std::string text;
  std::string remedy = {};                                               ///< Empty: all is well.
  std::vector<std::pair<std::string_view, std::uint64_t>> numbers = {};  ///< For programs.
};

std::string problem_text(const Error& error) {
  return fmt::format("{}: {}", error_code_name(error.code), error.to_string());
}

Check of_error(std::string name, const Error& error, std::string remedy) {
  return {.name = std::move(name), .text = problem_text(error), .remedy = std::move(remedy)};
}

/// Adds what `view` says of these members: its first line, and below it the remedy.
void add(std::vector<Check>& checks, std::string_view name, std::string_view view,
         const auto&... members) {
  const std::string made = view_text(view, json_object(members...), Style(false), 0).text;
  const std::size_t end = made.find('\n');
  checks.push_back({.name = std::string(name),
                    .text = made.substr(0, end),
                    .remedy = made.substr(end + 1, made.size() - end - 2)});
}

/// When the hooks of a client told of something last: what its sessions say.
std::optional<Timestamp> last_event(const std::vector<Session>& sessions, std::string_view client) {
  std::optional<Timestamp> last;
  for (const Session& session : sessions) {
    const bool is_of_hook = std::ranges::find(session.tags, "hook") != session.tags.end();
    if (is_of_hook && session.session_type == client && !session.problem) {
      last = std::max(last.value_or(session.last_write), session.last_write);
    }
  }
  return last;
}

/// Project and user, as far as there are settings.
std::vector<bool> scopes_of(const std::string& project) {
  std::vector<bool> scopes;
  if (!project.empty()) {
    scopes.push_back(false);
  }
  if (!environment("HOME").empty()) {
    scopes.push_back(true);
  }
  return scopes;
}

ClientState state_of(const ClientFacts& client, bool for_user, const std::string& project) {
  return client_state(client, for_user, project, own_program(for_user, project).command);
}

void check_client(const ClientFacts& client, const std::string& project,
                  const std::vector<Session>& sessions, std::vector<Check>& checks,
                  std::size_t& connected) {
  const std::optional<Timestamp> last = last_event(sessions, client.name);
  std::size_t scopes_with_hooks = 0;
  for (const bool for_user : scopes_of(project)) {
    const ClientState state = state_of(client, for_user, project);
    for (const Error& problem : state.problems) {
      checks.push_back(of_error(std::string(client.name), problem, "mend the file"));
    }
    if (!state.is_installed()) {
      continue;
    }
    ++connected;
    scopes_with_hooks += state.has_hooks() ? 1 : 0;
    const bool waits = state.is_complete() && client.has_hooks() && !last;
    add(checks, client.name, "check_client", "name", client.name, "title", client.title, "for_user",
        for_user, "has_hooks", client.has_hooks(), "last", last, "is_complete", state.is_complete(),
        "gate", waits ? closed_gate(client, for_user, project) : std::string_view(), "steps",
        waits ? steps_left(client, for_user, project) : std::vector<std::string_view>());
  }
  if (scopes_with_hooks == 2 && project != environment("HOME")) {
    add(checks, client.name, "check_client_twice", "name", client.name, "title", client.title);
  }
}

void check_clients(const std::string& root, const std::vector<Session>& sessions,
                   std::vector<Check>& checks) {
  std::size_t connected = 0;
  for (const ClientFacts& client : all_clients()) {
    check_client(client, project_folder(root), sessions, checks, connected);
  }
  if (connected == 0) {
    add(checks, "clients", "check_no_client");
  }
}

void check_policy(const HookPolicy& policy, std::vector<Check>& checks) {
  add(checks, "recording", "check_recording", "records", policy.records);
  add(checks, "briefings", "check_briefings", "tells", policy.tells);
}

/// Asks no server: what the files say.
void check_hub(const MemoryManager& memory, std::vector<Check>& checks) {
  const Result<MirrorReport> mirror = mirror_report(memory);
  const bool is_none = !mirror && (mirror.error().code == ErrorCode::E_HUB_NOT_FOUND ||
                                   mirror.error().code == ErrorCode::E_ACCESS_DENIED);
  if (is_none) {
    return;
  }
  const Result<std::uint64_t> waiting =
      mirror ? sessions_to_push(memory) : Result<std::uint64_t>(mirror.error());
  if (!waiting) {
    checks.push_back(of_error("hub", waiting.error(), "run `bmad-mem hub status`"));
    return;
  }
  add(checks, "hub", "check_hub", "project", mirror->project, "service", mirror->service, "cursor",
      mirror->cursor, "sessions_to_push", *waiting);
  checks.back().numbers = {{"sessions_to_push", *waiting}};
}

/// What the project switched off is no fault, and said each time: it may be somebody else's
/// project.
void check_redaction(const MemoryManager& memory, std::vector<Check>& checks) {
  const Result<SecretScanner> scanner = memory.scanner();
  for (const std::string& exception :
       scanner ? scanner->exceptions() : std::vector<std::string>()) {
    checks.push_back({.name = "redaction", .text = exception});
  }
}

/// Nothing outside of git, and where it tracks none of them or is to track them.
void check_events(const MemoryManager& memory, std::vector<Check>& checks) {
  const std::size_t logs = memory.tracked_event_logs();
  if (logs == 0 || tracks_events(memory)) {
    return;
  }
  const bool is_again =
      ignores_events(read_regular_file(memory.root() + "/.gitignore").value_or(std::string()));
  add(checks, "events", "check_events", "logs", logs, "is_again", is_again);
}

/// What earlier versions imported wrongly.
void check_imports(const MemoryManager& memory, std::vector<Check>& checks) {
  const Result<std::vector<ImportFault>> faults = find_import_faults(memory);
  if (faults && !faults->empty()) {
    add(checks, "imports", "check_imports", "faults", faults->size());
  }
}

/// How far the index goes is never a fault: searches read the rest from the logs, and index it when
/// that is worth it.
void check_index(const MemoryManager& memory, std::vector<Check>& checks) {
  const Result<IndexAge> age = memory.index_age();
  if (!age) {
    checks.push_back(of_error("index", age.error(), "run `bmad-mem rebuild-index`"));
    return;
  }
  add(checks, "index", "check_index", "enabled", age->enabled, "exists", age->exists, "behind",
      age->behind, "sessions", age->sessions);
}

/// Whether the memory is the user's own.
void check_trust(const MemoryManager& memory, std::vector<Check>& checks) {
  const TrustReport report = memory.trust_report();
  const std::size_t command = report.reason.find("run: ");
  add(checks, "trust", "check_trust", "is_foreign", report.is_foreign(), "reason", report.reason,
      "no_folder", report.folder.starts_with(kNoStateFolder), "command",
      command == std::string::npos ? "" : report.reason.substr(command + 5), "changed",
      report.config_changed, "is_own", report.trust == RootTrust::kOwn);
}

/// Whether new entries can be encrypted; nothing where none are.
void check_encryption(const MemoryManager& memory, std::vector<Check>& checks) {
  const EncryptionState state = memory.encryption_state();
  const std::optional<Error>& problem = state.problem;
  if (problem || state.is_on || state.waiting > 0) {
    add(checks, "encryption", "check_encryption", "problem",
        problem ? problem_text(*problem) : std::string(), "is_of_key",
        problem && problem->code != ErrorCode::E_STORAGE_CORRUPT && !state.is_gone, "is_on",
        state.is_on, "key_id", state.key_id, "waiting", state.waiting);
  }
}

void check_work(MemoryManager& memory, std::vector<Check>& checks) {
  if (const Result<MaintenanceAge> age = memory.maintenance_age(); !age) {
    checks.push_back(of_error("maintenance", age.error(), "run `bmad-mem maintain`"));
  } else {
    add(checks, "maintenance", "check_maintenance", "last_run", age->last_run, "is_overdue",
        age->is_overdue);
  }
  constexpr std::chrono::milliseconds kLookMax{1000};
  const auto planned = memory.maintain({.dry_run = true, .time_limit = kLookMax});
  for (const Error& problem : planned ? planned->problems : std::vector<Error>()) {
    checks.push_back(of_error("maintenance", problem, "run `bmad-mem verify`"));
  }
  const Result<std::vector<KnowledgeItem>> waiting = Knowledge(memory).recall(
      {.candidates = true, .stored_only = true, .note_accesses = false, .limit = 0});
  if (!waiting) {
    checks.push_back(of_error("candidates", waiting.error(), "run `bmad-mem verify`"));
    return;
  }
  add(checks, "candidates", "check_candidates", "waiting", waiting->size());
  static_cast<void>(memory.look_for_hand_edits());
  if (const std::vector<HandEdit> edits = memory.hand_edits(); !edits.empty()) {
    checks.push_back({.name = "edits",
                      .text = hand_edits_text(edits),
                      .remedy = "run `bmad-mem review --hand`"});
  }
  check_trust(memory, checks);
  check_encryption(memory, checks);
}

/// Names the folders among the sessions that can't be any, as a file manager's copy "s1 copy".
void check_folders(const std::string& root, std::vector<Check>& checks) {
  static constexpr std::string_view kOfIds = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  const std::string folder = root + "/sessions";
  for (const std::string& name : names_in(folder).value_or(std::vector<std::string>())) {
    std::error_code gone;
    if (!name.starts_with('.') && name.find_first_not_of(kOfIds) != std::string::npos &&
        std::filesystem::is_directory(folder + "/" + name, gone)) {
      add(checks, "sessions", "check_folder", "root", root, "name", name);
    }
  }
}

/// What waits because of git: a merge, and entries whose files only a person changes.
void check_git(const MemoryManager& memory, std::vector<Check>& checks) {
  if (const std::set<std::string> sessions = memory.sessions_in_conflict(); !sessions.empty()) {
    add(checks, "git", "check_git", "sessions", sessions);
  }
  const Result<PrivacyReport> report =
      memory.is_tracked() ? memory.privacy_report() : Result<PrivacyReport>(Error{});
  const std::uint64_t waiting = report ? sum_of(report->kept, &RetainedEntries::expired) : 0;
  if (waiting > 0) {
    add(checks, "retention", "check_retention", "waiting", waiting);
    checks.back().numbers = {{"waiting", waiting}};
  }
}

void check_encoder(const MemoryManager& memory, std::vector<Check>& checks) {
  const EncoderReport report = encoder_report(memory);
  if (report.problem) {
    const bool is_trust = report.problem->code == ErrorCode::E_ACCESS_DENIED &&
                          report.problem->message.contains("`bmad-mem trust`");
    checks.push_back(of_error(
        "encoder", *report.problem,
        is_trust ? "run `bmad-mem trust`" : "searches compare words alone until this is mended"));
    return;
  }
  const std::uint64_t encoded = report.entries - report.waiting;
  add(checks, "encoder", "check_encoder", "is_enabled", report.is_enabled, "name", report.name,
      "dimension", report.dimension, "entries", report.entries, "encoded", encoded, "waiting",
      report.waiting);
  if (report.is_enabled && !report.name.empty()) {
    checks.back().numbers = {{"encoded", encoded}, {"waiting", report.waiting}};
  }
}

void check_memory(MemoryManager& memory, std::vector<Check>& checks) {
  const Status writable = memory.check_writable();
  checks.push_back(writable ? Check{.name = "memory", .text = memory.root()}
                            : of_error("memory", writable.error(),
                                       memory.is_foreign() ? "run `bmad-mem trust`"
                                                           : "install a newer bmad-mem"));
  const auto add_warning = [&](const std::string& warning) {
    checks.push_back({.name = "config",
                      .text = warning,
                      .remedy = warning.contains("`bmad-mem trust`") ? "run `bmad-mem trust`"
                                : warning.contains(".toml")          ? "mend the file of rules"
                                                                     : "mend config.json"});
  };
  std::ranges::for_each(memory.config_warnings(), add_warning);
  std::ranges::for_each(rule_warnings(memory), add_warning);
  std::vector<Session> sessions;
  if (Result<std::vector<Session>> listed = memory.list_sessions(); listed) {
    sessions = *std::move(listed);
    std::optional<Timestamp> last;
    for (const Session& session : sessions) {
      if (session.problem) {
        checks.push_back(of_error("sessions", *session.problem, "run `bmad-mem repair`"));
      } else {
        last = std::max(last.value_or(session.last_write), session.last_write);
      }
    }
    check_folders(memory.root(), checks);
    add(checks, "sessions", "check_sessions", "sessions", sessions.size(), "last", last);
  } else {
    checks.push_back(of_error("sessions", listed.error(), "run `bmad-mem verify`"));
  }
  check_clients(memory.root(), sessions, checks);
  if (writable) {
    check_policy(memory.hook_policy(), checks);
  }
  check_hub(memory, checks);
  check_encoder(memory, checks);
  check_redaction(memory, checks);
  check_work(memory, checks);
  check_index(memory, checks);
  check_events(memory, checks);
  check_imports(memory, checks);
  check_git(memory, checks);
  for (const Error& problem : memory.problems()) {
    checks.push_back(of_error("files", problem, "run `bmad-mem repair`"));
  }
}

/// The clients whose programs are newer than what was tried, of those that are connected.
void check_versions(const std::string& project, std::vector<Check>& checks) {
  for (const ClientFacts& client : all_clients()) {
    const bool is_here = std::ranges::any_of(scopes_of(project), [&](bool for_user) {
      return state_of(client, for_user, project).is_installed();
    });
    if (const std::string version = is_here ? newer_version(client) : ""; !version.empty()) {
      add(checks, client.name, "check_version", "name", client.name, "title", client.title,
          "version", version, "tried", client.tried);
    }
  }
}

/// Tries what the settings of a client say, as the client would.
Status try_client(Tool& tool, const ClientFacts& client, std::vector<Check>& checks) {
  for (const bool for_user : {false, true}) {
    BMAD_TRY_ASSIGN(const InstallPlan plan,
                    plan_install(tool, client, /*is_install=*/true, for_user,
                                 /*advises=*/false));
    if (state_of(client, for_user, plan.project).is_installed()) {
      add(checks, client.name, "check_trial", "name", client.name, "title", client.title,
          "for_user", for_user, "has_hooks", client.has_hooks(), "tried", client.tried, "how",
          client.how, "problem", host_problem(plan));
    }
  }
  if (checks.empty()) {
    add(checks, client.name, "check_not_connected", "name", client.name, "title", client.title);
  }
  return {};
}

Result<ExitStatus> print_checks(Tool& tool, const std::vector<Check>& checks) {
  show_all(tool, "checks", shape::check, checks);
  const bool is_well = std::ranges::all_of(checks, &std::string::empty, &Check::remedy);
  return is_well ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace

Result<ExitStatus> run_doctor(Tool& tool) {
  std::vector<Check> checks;
  if (const std::string_view name = tool.args().value("client"); !name.empty()) {
    const ClientFacts* const client = find_client(name);
    if (client == nullptr) {
      return no_such_client(tool, name);
    }
    BMAD_TRY(try_client(tool, *client, checks));
    return print_checks(tool, checks);
  }
  if (Result<MemoryManager> memory = tool.open({}, {}, /*tolerate_bad_config=*/true)) {
    check_memory(*memory, checks);
    check_versions(project_folder(memory->root()), checks);
  } else {
    checks.push_back(of_error("memory", memory.error(),
                              memory.error().code == ErrorCode::E_SESSION_NOT_FOUND
                                  ? "run `bmad-mem init` in the project"
                                  : "mend the file that it names"));
  }
  if (const std::string problem = MemoryManager::worktree_problem(working_directory());
      !problem.empty()) {
    checks.push_back({.name = "worktree", .text = problem});
  }
  const std::string own = tool.user_root();
  if (has_memory(own)) {
    checks.push_back({.name = "yours", .text = fmt::format("your own memory is in {}", own)});
  }
  return print_checks(tool, checks);
}

Result<HttpResponse> http_doctor(ApiContext& context, const EndpointCall& /*call*/) {
  std::vector<Check> checks;
  check_memory(context.memory, checks);
  return object_response("checks", shaped(shape::check, checks));
}

}  // namespace bmad_mem::cli
