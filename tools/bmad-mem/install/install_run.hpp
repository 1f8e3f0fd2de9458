// install_run.hpp - what `install` and `uninstall` have in common: all files are read and worked
// out first, then shown, then written.
#pragma once

#include "bmad_mem/result.hpp"
#include "cli/command.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

inline constexpr std::string_view kInstallScopes[] = {"project", "user"};
inline constexpr std::string_view kInstallClients[] = {"claude-code", "codex", "gemini", "cursor",
                                                       "vscode"};

/// Puts our settings in, or takes them out.
Result<ExitStatus> run_install(Tool& tool, bool is_install);

}  // namespace bmad_mem::cli
