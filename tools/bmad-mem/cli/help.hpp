// help.hpp - what `--help` and `help` print, made from the declarations of the commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {

/// The commands that everybody needs, on one screen.
std::string overview_text(const Style& style);

/// All commands in groups, and the global options.
std::string complete_overview_text(const Style& style);

/// Usage, description, arguments, options with defaults, examples and exit status of one command.
/// `first` is its first positional, for commands whose options hang on it; may be empty.
std::string help_text(const Command& command, std::string_view first, const Style& style);

// Bmad-mem.1, made from the declarations of the commands.

/// The page as roff, for man(7) macros.
std::string man_page();

}  // namespace bmad_mem::cli
