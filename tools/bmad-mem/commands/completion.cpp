// completion - prints a completion script for a shell.
#include "completion.hpp"

#include "commands/commands.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_completion(Tool& tool) {
  const std::string_view shell = tool.args().positional(0);
  if (shell == "bash") {
    tool.out().write(bash_completion());
  } else if (shell == "zsh") {
    tool.out().write(zsh_completion());
  } else if (shell == "fish") {
    tool.out().write(fish_completion());
  } else {
    return tool.wrong_usage(
        fmt::format("there are completions for bash, zsh and fish, not '{}'", shell));
  }
  return ExitStatus::kDone;
}

constexpr Positional kCompletionPositionals[] = {{.name = "SHELL",
                                                  .help = "bash, zsh or fish",
                                                  .completion = Completion::kChoice,
                                                  .choices = kShells}};

constexpr Example kCompletionExamples[] = {
    {.command = "source <(bmad-mem completion bash)", .says = "for this shell"},
    {.command = "bmad-mem completion fish >~/.config/fish/completions/bmad-mem.fish",
     .says = "for good"},
};

}  // namespace

const Command kCompletion = {
    .name = "completion",
    .group = Group::kTool,
    .summary = "print a completion script for bash, zsh or fish",
    .description =
        "Prints a script that lets the shell complete commands, options, types, session "
        "ids and files.",
    .positionals = kCompletionPositionals,
    .examples = kCompletionExamples,
    .run = run_completion,
};

}  // namespace bmad_mem::cli
