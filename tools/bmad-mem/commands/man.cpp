// man - writes the manual page; the build calls it.
#include "commands/commands.hpp"
#include "man_page.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_man(Tool& tool) {
  tool.out().write(man_page());
  return ExitStatus::kDone;
}

}  // namespace

const Command kMan = {
    .name = "man",
    .group = Group::kHidden,
    .summary = "write the manual page as roff",
    .description = "Writes bmad-mem.1, as `man` reads it.",
    .run = run_man,
};

}  // namespace bmad_mem::cli
