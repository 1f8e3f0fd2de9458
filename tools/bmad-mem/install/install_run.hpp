// install_run.hpp - what `install` and `uninstall` have in common: all files are read and worked
// out first, then shown, then written.
#pragma once

#include <string>

#include "bmad_mem/result.hpp"
#include "cli/command.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// "bmad-mem" where the shell would find this very program, else its path: what clients start.
std::string installed_program();

/// Puts our settings in, or takes them out.
Result<ExitStatus> run_install(Tool& tool, bool is_install);

}  // namespace bmad_mem::cli
