// help.hpp - what `--help` and `help` print, made from the declarations of the commands.
#pragma once

#include <array>
#include <span>
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

/// "bmad-mem add [OPTION]... TYPE [TEXT|JSON|-]".
std::string usage_line(const Command& command);

/// "-n, --limit N" or "    --json".
std::string option_head(const Option& option);

/// The option's help with its choices, its default and whether it can be repeated.
std::string option_help(const Option& option);

/// The options that the command has whatever its first positional.
std::vector<Option> options_of_all(const Command& command);

/// "search, find"; empty when the command has no alias.
std::string alias_list(const Command& command);

/// What the exit statuses mean for this command.
std::string_view exit_status_text(const Command& command);

// Bmad-mem.1, made from the declarations of the commands.

/// The page as roff, for man(7) macros.
std::string man_page();

// Completion scripts for shells, made from the declarations of the commands.

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

/// What can be completed behind a command: "list", "session new"; and "add decision", since the
/// options of `add` hang on the type.
struct CompletionScope {
  std::string name;
  const Command* command = nullptr;
  std::vector<const Option*> options;  ///< The global ones last.
};

/// Every scope but those of hidden commands.
std::vector<CompletionScope> completion_scopes();

/// The first words of command names, each once, with what help says: "session" stands for several.
std::vector<Example> first_command_words();

/// The second words behind `first`: those of "session new", "session list", …
std::vector<Example> second_command_words(std::string_view first);

/// The options of all scopes that take a value, each name once, with dashes.
std::vector<std::string> options_with_value();

}  // namespace bmad_mem::cli
