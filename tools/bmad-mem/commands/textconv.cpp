// textconv - a log as prose, for `git diff`.
#include <string>

#include "commands/commands.hpp"
#include "exchange/files.hpp"
#include "exchange/git/prose.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_textconv(Tool& tool) {
  const std::string path(tool.args().positional(0));
  BMAD_TRY_ASSIGN(const std::string text, read_regular_file(path));
  tool.out().write(log_as_prose(text, path));
  return ExitStatus::kDone;
}

constexpr Positional kTextconvPositionals[] = {
    {.name = "FILE", .help = "a log, or a copy of one", .completion = Completion::kFile},
};

constexpr Example kTextconvExamples[] = {
    {.command = "bmad-mem textconv .bmad/memory/sessions/$S/decisions.jsonl | less",
     .says = "read a log"},
};

}  // namespace

const Command kTextconv = {
    .name = "textconv",
    .group = Group::kHidden,
    .summary = "print a log as prose, for git diff",
    .description =
        "Prints a paragraph for each line of a log: when, who, what and which version, what the "
        "entry says, then its other fields. `bmad-mem git install` tells git to use it, so that "
        "`git diff` and `git log -p` read like prose. Lines that are no entries are shown as they "
        "are. Control characters are blanks.",
    .positionals = kTextconvPositionals,
    .examples = kTextconvExamples,
    .run = run_textconv,
};

}  // namespace bmad_mem::cli
