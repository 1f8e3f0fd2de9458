// forget - purges everything about a folder, or everything that holds a text.
#include <algorithm>
#include <string>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "confirmation.hpp"
#include "deletion_options.hpp"
#include "exchange/git/git_history.hpp"
#include "exchange/workspaces.hpp"
#include "removed_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> forget_text(Tool& tool, const std::string& text) {
  const DeleteOptions options{.dry_run = tool.args().has("dry-run"), .purge = true};
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const ExitStatus status, delete_and_tell(tool, memory, {.match = text}, options));
  if (!tool.args().has("verify") || status != ExitStatus::kDone) {
    return status;
  }
  return verify_gone(tool, memory, text);
}

void print_sessions(Tool& tool, const std::vector<WorkspaceSession>& sessions) {
  for (const WorkspaceSession& session : sessions) {
    if (tool.json()) {
      JsonWriter json;
      json.begin_object().member("session_id", session.session_id);
      json.member("state", session.state).member("workspace", session.named).end_object();
      tool.out().print("{}\n", json.text());
    } else {
      tool.out().print("{}  {}  {}\n", tool.style().id(session.session_id), session.state,
                       printable(session.named));
    }
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
    for (const std::string_view ending : {".tar.gz", ".manifest.json", ".evicted.jsonl.gz"}) {
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
    if (!is_confirmed(tool, fmt::format("purge {}, for good?",
                                        format_count(sessions.size(), "session", "sessions")))) {
      return ExitStatus::kFailed;
    }
    for (const WorkspaceSession& session : sessions) {
      BMAD_TRY_ASSIGN(const DeletionReport report,
                      memory.delete_session(session.session_id, options));
      print_deletion(tool, report, options);
    }
  }
  BMAD_TRY(note_the_rest(tool, memory, workspace));
  return tool.args().has("verify") ? verify_sessions(tool, memory, sessions) : ExitStatus::kDone;
}

Result<ExitStatus> run_forget(Tool& tool) {
  const Arguments& args = tool.args();
  if (args.has("workspace") == args.has("match")) {
    return tool.wrong_usage("give either --workspace DIR or --match TEXT");
  }
  if (args.has("verify") && args.has("dry-run")) {
    return tool.wrong_usage("--verify looks whether all is gone; it makes no sense with --dry-run");
  }
  BMAD_TRY_ASSIGN(const std::string text, read_match(args));
  if (!text.empty()) {
    return forget_text(tool, text);
  }
  if (args.value("workspace").empty()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "the name of the folder is empty",
                 .field = "workspace"};
  }
  return forget_workspace(tool, args.value("workspace"));
}

constexpr Option kForgetOptions[] = {
    {.name = "workspace",
     .value = "DIR",
     .help = "the sessions of this folder, as project_name or workspace in their metadata names it",
     .completion = Completion::kFolder},
    kMatchOption,
    kDryRunDeletion,
    {.name = "verify", .help = "afterwards search every file and the git history for what is left"},
    kYesOption,
};

constexpr Example kForgetExamples[] = {
    {.command = "bmad-mem forget --match hunter2 --dry-run", .says = "which entries hold it"},
    {.command = "bmad-mem forget --match hunter2 --verify",
     .says = "purge them, then look into every file and into git"},
    {.command = "bmad-mem forget --workspace ~/work/payments", .says = "all sessions of a project"},
};

}  // namespace

const Command kForget = {
    .name = "forget",
    .group = Group::kCare,
    .summary = "purge all about a folder, or all that holds a text",
    .description =
        "Purges, for good and from every file of the memory, the sessions of a workspace, or the "
        "entries that hold a text in any field, in any version. Nothing brings that back, and it "
        "cannot be imported again.\n\n"
        "What git has seen is not changed. --verify reads every byte below the memory, compressed "
        "files unpacked, and the history of the surrounding git repository, says what is left and "
        "where, and how to remove it.",
    .options = kForgetOptions,
    .examples = kForgetExamples,
    .exit_status =
        "0 done, also when nothing matched, 1 failed, the answer was no, or --verify found "
        "something, 2 wrong usage.",
    .run = run_forget,
};

}  // namespace bmad_mem::cli
