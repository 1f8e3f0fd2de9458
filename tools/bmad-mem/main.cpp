// main.cpp - bmad-mem, the memory of a project on the command line.

#include <csignal>
#include <span>
#include <string>
#include <utility>

#include "help.hpp"
#include "options.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

ExitStatus run_tool(std::span<const char* const> argv) {
  CommandLine line = read_command_line(argv);
  Tool tool(line.command, std::move(line.arguments));
  if (line.problem.empty()) {
    line.problem = tool.global_problem();
  }
  if (!line.problem.empty()) {
    return tool.finish(tool.wrong_usage(line.problem));
  }
  if (line.wants_version) {
    tool.out().print("bmad-mem {}\n", tool_version());
    return tool.finish(ExitStatus::kDone);
  }
  if (line.wants_help || line.command == nullptr) {
    tool.out().write(line.command == nullptr
                         ? overview_text(tool.style())
                         : help_text(*line.command, tool.args().positional(0), tool.style()));
    return tool.finish(line.wants_help ? ExitStatus::kDone : ExitStatus::kWrongUsage);
  }
  const Result<ExitStatus> status = line.command->run(tool);
  if (!status) {
    tool.report(status.error());
  }
  return tool.finish(status.value_or(ExitStatus::kFailed));
}

}  // namespace
}  // namespace bmad_mem::cli

int main(int argc, char** argv) {
  // A reader that goes away and a file that grows too large are errors, not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const auto count = static_cast<std::size_t>(argc > 0 ? argc - 1 : 0);
  return static_cast<int>(bmad_mem::cli::run_tool({argv + 1, count}));
}
