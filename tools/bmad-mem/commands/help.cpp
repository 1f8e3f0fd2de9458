// help - explains the tool or one of its commands.
#include "help.hpp"

#include "commands/commands.hpp"
#include "options.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_help(Tool& tool) {
  const std::vector<std::string>& words = tool.args().positionals();
  if (tool.args().has("all") && !words.empty()) {
    return tool.wrong_usage("--all lists all commands; it takes no COMMAND");
  }
  if (words.empty()) {
    tool.out().write(tool.args().has("all") ? complete_overview_text(tool.style())
                                            : overview_text(tool.style()));
    return ExitStatus::kDone;
  }
  // The words are read as a command line, so that `help session new` and `help add decision` work.
  std::vector<const char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) {
    argv.push_back(word.c_str());
  }
  argv.push_back("--help");
  const CommandLine line = read_command_line(argv);
  if (line.command == nullptr) {
    return tool.wrong_usage(line.problem);
  }
  tool.out().write(help_text(*line.command, line.arguments.positional(0), tool.style()));
  return ExitStatus::kDone;
}

constexpr Positional kHelpPositionals[] = {
    {.name = "COMMAND", .help = "the command, as in `help session new`", .min = 0, .max = 0}};

constexpr Option kHelpOptions[] = {{.name = "all", .help = "list all commands"}};

constexpr Example kHelpExamples[] = {
    {.command = "bmad-mem help --all", .says = "all commands, in groups"},
    {.command = "bmad-mem help add", .says = "what `add` does, with its options"},
    {.command = "bmad-mem help add decision", .says = "and the fields of a decision"},
};

}  // namespace

const Command kHelp = {
    .name = "help",
    .group = Group::kTool,
    .summary = "explain a command",
    .description =
        "Lists the commands that are needed most, or explains one: usage, options with their "
        "defaults, examples, exit status. `bmad-mem COMMAND --help` does the same.",
    .positionals = kHelpPositionals,
    .options = kHelpOptions,
    .examples = kHelpExamples,
    .run = run_help,
};

}  // namespace bmad_mem::cli
