// install_run.hpp - the commands `install` and `uninstall`.
#pragma once

#include <optional>

#include "bmad_mem/result.hpp"
#include "cli/command.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// Puts our settings in, or takes them out.
Result<ExitStatus> run_install(Tool& tool, bool is_install);

}  // namespace bmad_mem::cli
