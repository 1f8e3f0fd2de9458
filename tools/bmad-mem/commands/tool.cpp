// tool.cpp - the tool about itself.
#include "cli/tool.hpp"

#include "bmad_mem/entry_fields.hpp"
#include "cli/entry_options.hpp"
#include "cli/help.hpp"
#include "cli/options.hpp"

namespace bmad_mem::cli {

Result<ExitStatus> run_help(Tool& tool) {
  const std::vector<std::string>& words = tool.args().positionals();
  if (words.empty()) {
    tool.out().write(tool.args().has("all") ? complete_overview_text(tool.style())
                                            : overview_text(tool.style()));
    return ExitStatus::kDone;
  }
  // The words are read as a command line, so that `help session new` and `help add decision` work.
  std::vector<std::string> line_words = words;
  line_words.emplace_back("--help");
  const CommandLine line = read_command_line(std::move(line_words));
  if (line.command == nullptr) {
    return tool.wrong_usage(line.problem);
  }
  tool.out().write(help_text(*line.command, line.arguments.positional(0), tool.style()));
  return ExitStatus::kDone;
}

Result<ExitStatus> run_version(Tool& tool) {
  return show(tool, "version", object_of("version", tool_version()));
}

Result<ExitStatus> run_man(Tool& tool) {
  tool.out().write(man_page());
  return ExitStatus::kDone;
}

/// `./dev schemas` calls it.
Result<ExitStatus> run_schema(Tool& tool) {
  const std::string_view name = tool.args().positional(0);
  if (name.empty()) {
    tool.out().write(field_tables());
    return ExitStatus::kDone;
  }
  BMAD_TRY_ASSIGN(const EntryType type, parse_entry_type(name));
  tool.out().write(entry_schema(type));
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
