// confirmation.hpp - asking a person before something goes.
#pragma once

#include <string_view>

#include "cli/command.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// Whether a person is there to be asked. Scripts, --json and --yes are not asked: nobody may be
/// there to answer, and then no question must stop the work.
bool is_asked(const Tool& tool);

/// Whether to go on: asks on stderr, if is_asked(), and takes "y" or "yes" for it.
bool is_confirmed(Tool& tool, std::string_view question);

}  // namespace bmad_mem::cli
