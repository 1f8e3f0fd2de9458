// workspaces.hpp - which sessions belong to the folder that agents worked in.
#pragma once

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

}  // namespace bmad_mem::cli
