// completion.hpp - completion scripts for shells, made from the declarations of the commands.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace bmad_mem::cli {

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
