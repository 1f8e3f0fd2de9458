// workspaces.hpp - which sessions belong to the folder that agents worked in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

/// A folder, as sessions name it: `import` takes the last part of the path as project_name.
struct Workspace {
  std::string path;  ///< Absolute, without a slash at its end.
  std::string name;  ///< Its last part.
};

/// The folder `text`, which need not exist.
Workspace workspace_of(std::string_view text);

/// A session, there or archived, whose manifest names a workspace.
struct WorkspaceSession {
  std::string session_id;
  std::string state;  ///< "active", "idle", "closed", "archived".
  std::string named;  ///< How its manifest names the workspace.
};

/// The sessions whose metadata.project_name or metadata.workspace is the path or the name.
Result<std::vector<WorkspaceSession>> sessions_of_workspace(const MemoryManager& memory,
                                                            const Workspace& workspace);

/// The entries of the folder that `text` names, by its path or its last part, which also means any
/// other folder of that name. Errors: as sessions_of_workspace().
Result<WorkspaceFilter> workspace_filter(const MemoryManager& memory, std::string_view text);

// Which conversation a process belongs to, as its host's hooks have noted it.
//
//   claude (4711) ──┬── sh ── bmad-mem hook   notes ROOT/.lock.hosts/4711-STARTED: "cc-18a6…"
//                   └── bmad-mem mcp          looks there: what it stores belongs to that session
//
// A note is local to the machine and for the session's name only. The next one removes those of
// hosts that have ended. Only Linux has /proc: elsewhere nothing is noted.

/// Notes that the host of this process talks in the session now. What goes wrong with it stops
/// nothing.
void note_conversation(const std::string& root, std::string_view session_id);

/// The session in which the host of this process talks; empty when none is noted.
std::string noted_conversation(const std::string& root);

/// What the person said last in the session; nothing where that is not recorded.
std::optional<Entry> last_prompt(const MemoryManager& memory, const std::string& session_id);

}  // namespace bmad_mem::cli
