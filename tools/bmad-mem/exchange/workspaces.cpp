#include "exchange/workspaces.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "cli/session_choice.hpp"

namespace bmad_mem::cli {
namespace {

/// How the manifest names the workspace; empty when it names another one, or none.
std::string named_in(std::string_view manifest, const Workspace& workspace) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(manifest);
  if (!value) {
    return {};
  }
  const JsonValue metadata = (*value)["metadata"];
  for (const std::string_view member : {"workspace", "project_name"}) {
    const std::string_view named = metadata[member].string();
    if (!named.empty() && (named == workspace.path || named == workspace.name)) {
      return std::string(named);
    }
  }
  return {};
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
                         .sessions = {}};
  for (const WorkspaceSession& session : sessions) {
    filter.sessions.push_back(session.session_id);
  }
  return filter;
}

}  // namespace bmad_mem::cli
