// install_run.hpp - the commands `install` and `uninstall`.
#pragma once

#include <string_view>

#include "bmad_mem/result.hpp"
#include "cli/command.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// What to say where no client has that name.
ExitStatus no_such_client(Tool& tool, std::string_view name);

/// Puts our settings in, or takes them out.
Result<ExitStatus> run_install(Tool& tool, bool is_install);

}  // namespace bmad_mem::cli
