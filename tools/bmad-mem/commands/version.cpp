// version - which one this is.
#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_version(Tool& tool) {
  if (tool.json()) {
    tool.out().print("{{\"version\":{}}}\n", json_quoted(tool_version()));
  } else {
    tool.out().print("bmad-mem {}\n", tool_version());
  }
  return ExitStatus::kDone;
}

constexpr Example kVersionExamples[] = {
    {.command = "bmad-mem version", .says = "so does --version"}};

}  // namespace

const Command kVersion = {
    .name = "version",
    .group = Group::kTool,
    .summary = "print the version",
    .description = "Prints the version of the tool.",
    .examples = kVersionExamples,
    .run = run_version,
};

}  // namespace bmad_mem::cli
