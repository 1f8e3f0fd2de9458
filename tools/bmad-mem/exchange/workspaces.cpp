// workspaces.cpp - finds the sessions of a folder, and notes the conversation of a host process.
#include "exchange/workspaces.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "cli/agents.hpp"
#include "cli/session_choice.hpp"
#include "cli/text.hpp"
#include "exchange/files.hpp"
#include "exchange/ids.hpp"

namespace bmad_mem::cli {
namespace {

/// How the manifest names the workspace; empty when it names another one, or none.
std::string named_in(std::string_view manifest, const Workspace& workspace) {
  const ParsedJson value(manifest);
  for (const std::string_view member : {"workspace", "project_name"}) {
    const std::string_view named = value["metadata"][member].string();
    if (!named.empty() && (named == workspace.path || named == workspace.name)) {
      return std::string(named);
    }
  }
  return {};
}

/// Those of the host, looked up once: they stay.
const std::vector<std::string>& hosts() {
  static const std::vector<std::string> kHosts = host_processes();
  return kHosts;
}

/// The folder of the notes. A link in its place, which may have come with the memory, is none.
std::string notes_folder(const std::string& root) {
  std::string folder = root + "/.lock.hosts";
  struct stat there{};
  return ::lstat(folder.c_str(), &there) != 0 || S_ISDIR(there.st_mode) ? folder : std::string();
}

void remove_notes_of_ended(const std::string& folder) {
  assert(!folder.empty() && "a link in its place has no notes");
  for (const std::string& name : names_in(folder).value_or(std::vector<std::string>())) {
    if (name.find_first_not_of("0123456789-") == std::string::npos && !is_running(name)) {
      ::unlink((folder + "/" + name).c_str());
    }
  }
}

}  // namespace

Workspace workspace_of(std::string_view text) {
  std::error_code problem;
  std::filesystem::path path = std::filesystem::absolute(text, problem).lexically_normal();
  if (!path.has_filename()) {
    path = path.parent_path();  // "payments/" is "payments".
  }
  return {.path = path.string(), .name = path.filename().string()};
}

Result<std::vector<WorkspaceSession>> sessions_of_workspace(const MemoryManager& memory,
                                                            const Workspace& workspace) {
  std::vector<WorkspaceSession> found;
  const auto take = [&](const auto& session, std::string_view state) {
    if (std::string named = named_in(session.manifest, workspace); !named.empty()) {
      found.push_back({session.session_id, std::string(state), std::move(named)});
    }
  };
  BMAD_TRY_ASSIGN(const std::vector<Session> sessions, memory.list_sessions());
  for (const Session& session : sessions) {
    take(session, session_state(memory, session));
  }
  BMAD_TRY_ASSIGN(const std::vector<ArchivedSession> archived, memory.archived_sessions());
  for (const ArchivedSession& session : archived) {
    take(session, session_state_name(SessionState::kArchived));
  }
  return found;
}

Result<WorkspaceFilter> workspace_filter(const MemoryManager& memory, std::string_view text) {
  Workspace workspace = workspace_of(text);
  BMAD_TRY_ASSIGN(const std::vector<WorkspaceSession> sessions,
                  sessions_of_workspace(memory, workspace));
  WorkspaceFilter filter{.path = std::move(workspace.path),
                         .name = std::move(workspace.name),
                         .any_path = !text.contains('/'),
                         .sessions = mapped(sessions, &WorkspaceSession::session_id)};
  return filter;
}

void note_conversation(const std::string& root, std::string_view session_id) {
  const std::string folder = notes_folder(root);
  if (folder.empty() || hosts().empty() || noted_conversation(root) == session_id) {
    return;
  }
  std::error_code problem;
  if (std::filesystem::create_directory(folder, problem); problem) {
    return;
  }
  remove_notes_of_ended(folder);
  for (const std::string& host : hosts()) {
    const std::string path = folder + "/" + host;
    const std::string fresh =
        fmt::format("{}-{}", path, ::getpid());  // Two hooks may note at once.
    std::ofstream(fresh) << session_id;
    std::filesystem::rename(fresh, path, problem);
  }
}

std::string noted_conversation(const std::string& root) {
  const std::string folder = notes_folder(root);
  for (const std::string& host : folder.empty() ? std::vector<std::string>() : hosts()) {
    if (Result<std::string> session = read_regular_file(folder + "/" + host);
        session && !session->empty() && *session == session_id_from("", *session)) {
      return std::move(*session);
    }
  }
  return {};
}

std::optional<Entry> last_prompt(const MemoryManager& memory, const std::string& session_id) {
  const Result<std::vector<Entry>> found =
      memory.list({.sessions = {session_id},
                   .types = {EntryType::kConversation},
                   .fields = {{.field = "role", .value = "user"},
                              {.field = "metadata.sidechain", .value = "true", .excluded = true}},
                   .limit = 1});
  return found && !found->empty() ? std::optional(found->front()) : std::nullopt;
}

}  // namespace bmad_mem::cli
