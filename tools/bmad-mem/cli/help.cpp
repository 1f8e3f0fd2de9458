#include "cli/help.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/entry_options.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kHelpWidth = 96;
constexpr std::string_view kUsualExitStatus =
    "0 done, 1 failed (the error's code is on stderr), 2 wrong usage (nothing was touched).";
constexpr std::string_view kReadingExitStatus =
    "0 done, 1 failed (the error's code is on stderr), 2 wrong usage (nothing was touched), "
    "4 something could not be read (it is named; the rest is answered).";

constexpr std::string_view kToolPurpose =
    "A file-based memory for software agents: messages, decisions, knowledge.";

/// The titles of the short help, which shows what somebody needs in the first hour; with titles and
/// footer it is one screen of 24 lines.
constexpr std::string_view kEveryday[] = {"Store", "Ask", "Agents and people", "Look after"};

constexpr Explained kVariables[] = {
    {"BMAD_MEMORY_ROOT", "the memory's folder, when there is no --root"},
    {"BMAD_SESSION", "the session, when there is no --session"},
    {"XDG_DATA_HOME", "your own memory is in its folder bmad-mem; ~/.local/share without it"},
    {"XDG_STATE_HOME", "what you trust is kept in its folder bmad-mem; ~/.local/state without it"},
    {"XDG_CONFIG_HOME", "keys of sealed memories are in its folder bmad-mem; ~/.config without it"},
    {"BMAD_MEM_KEY_FILE", "the file with the key of a sealed memory"},
    {"BMAD_MEM_KEY", "the same key, as 64 hexadecimal digits"},
    {"BMAD_MEM_PASSPHRASE", "or the passphrase that makes it"},
    {"BMAD_AGENT_ID", "agent name if --agent-id is missing"},
    {"BMAD_MEM_WORKFLOW", "the workflow file, when there is no --workflow"},
    {"BMAD_MEM_NOW",
     "an RFC 3339 time at which the clock of this process begins, and goes on from there: a tool "
     "for tests"},
    {"BMAD_MEM_PROGRESS", "progress bars are drawn at once, when it is set: a tool for tests"},
    {"NO_COLOR", "no colours, when it is set"},
};

/// `text` in lines of at most kHelpWidth characters, each line but the first indented by `indent`.
std::string help_lines(std::string_view text, std::size_t indent) {
  const std::string front(indent, ' ');
  std::string out;
  for (bool is_last = false; !is_last;) {
    const std::string_view line = text.substr(0, text.find('\n'));
    is_last = line.size() == text.size();
    text.remove_prefix(line.size() + (is_last ? 0 : 1));
    out += line.empty() ? "\n" : wrapped(line, kHelpWidth - indent, front);
  }
  out.pop_back();
  return out.starts_with(front) ? out.substr(indent) : out;
}

struct Row {
  std::string head;
  std::string help;
};

/// Two columns; the second is wrapped.
void append_rows(std::string& out, const std::vector<Row>& rows, const Style& style) {
  static constexpr std::size_t kHeadWidthMax = 30;
  std::size_t head_width = 0;
  for (const Row& row : rows) {
    const std::size_t width = text_width(row.head);
    head_width = std::max(head_width, width <= kHeadWidthMax ? width : 0);
  }
  const std::size_t indent = 2 + head_width + 2;
  for (const Row& row : rows) {
    out += "  ";
    out += style.bold(row.head);
    const std::size_t width = text_width(row.head);
    if (width > head_width) {
      out += '\n';
      out.append(indent, ' ');
    } else {
      out.append(head_width - width + 2, ' ');
    }
    out += help_lines(row.help, indent);
    out += '\n';
  }
}

void append_title(std::string& out, std::string_view title, const Style& style) {
  out += '\n';
  out += style.bold(title);
  out += '\n';
}

/// Below a title a row for each of `items`: what `head` and `help` say of it.
template <typename Items, typename Head, typename Help>
void append_section(std::string& out, std::string_view title, const Items& items, const Head& head,
                    const Help& help, const Style& style) {
  std::vector<Row> rows;
  for (const auto& item : items) {
    rows.push_back({std::string(std::invoke(head, item)), std::string(std::invoke(help, item))});
  }
  if (!rows.empty()) {
    append_title(out, title, style);
    append_rows(out, rows, style);
  }
}

void append_options(std::string& out, std::string_view title, std::span<const Option> options,
                    const Style& style) {
  append_section(out, title, options, option_head, option_help, style);
}

void append_examples(std::string& out, const Command& command, const Style& style) {
  if (command.examples.empty()) {
    return;
  }
  append_title(out, "Examples:", style);
  for (const Example& example : command.examples) {
    out += fmt::format("  {}\n", style.faint(fmt::format("# {}", example.says)));
    out += fmt::format("  {}\n", example.command);
  }
}

}  // namespace

std::string option_head(const Option& option) {
  const bool is_choice = option.value.empty() && !option.choices.empty();
  return fmt::format(
      "{}--{}{}{}",
      option.letter == '\0' ? std::string("    ") : fmt::format("-{}, ", option.letter),
      option.name, option.value.empty() ? "" : " ", is_choice ? "[=WHICH]" : option.value);
}

std::string option_help(const Option& option) {
  std::string out(option.help);
  const auto is_named = [&](std::string_view choice) { return option.help.contains(choice); };
  if (!std::ranges::all_of(option.choices, is_named)) {
    out += fmt::format(": {}", fmt::join(option.choices, ", "));
  }
  if (option.repeatable) {
    out += "; can be repeated";
  }
  if (!option.fallback.empty()) {
    out += fmt::format(" (default: {})", option.fallback);
  }
  return out;
}

std::vector<Option> options_of_all(const Command& command) {
  std::vector<Option> options(command.options.begin(), command.options.end());
  if (command.options_of != nullptr) {
    const std::span<const Option> more = command.options_of({});
    options.insert(options.end(), more.begin(), more.end());
  }
  return options;
}

std::string alias_list(const Command& command) {
  std::string out;
  for (const Synonym& synonym : all_synonyms()) {
    if (synonym.command == &command && synonym.is_alias()) {
      out += fmt::format("{}{}", out.empty() ? "" : ", ", synonym.word);
    }
  }
  return out;
}

std::string_view exit_status_text(const Command& command) {
  if (!command.exit_status.empty()) {
    return command.exit_status;
  }
  return answers(command) ? kReadingExitStatus : kUsualExitStatus;
}

std::string usage_line(const Command& command) {
  std::string out = fmt::format("bmad-mem {}", command.name);
  if (!command.options.empty()) {
    out += " [OPTION]...";
  }
  for (const Positional& positional : command.positionals) {
    const std::string_view more = positional.max == 0 ? "..." : "";
    out += positional.min == 0 ? fmt::format(" [{}{}]", positional.name, more)
                               : fmt::format(" {}{}", positional.name, more);
  }
  return out;
}

std::string help_text(const Command& command, std::string_view first, const Style& style) {
  std::string out = fmt::format("{} {}\n\n", style.bold("Usage:"), usage_line(command));
  out += help_lines(command.description, 0);
  out += '\n';
  if (const std::string aliases = alias_list(command); !aliases.empty()) {
    out += fmt::format("\n{} {}\n", style.bold("Aliases:"), aliases);
  }
  append_section(out, "Arguments:", command.positionals, &Positional::name, &Positional::help,
                 style);
  append_options(out, "Options:", options_of_all(command), style);
  if (command.options_of != nullptr && !first.empty()) {
    append_options(out, fmt::format("Fields of {}:", first), command.options_of(first), style);
  }
  append_section(
      out, command.glossary_title, command.glossary, &Explained::what,
      [](const Explained& each) { return with_fields(each.says); }, style);
  std::vector<Option> globals;  // But for those that mean something else here.
  std::ranges::copy_if(global_options(), std::back_inserter(globals), [&](const Option& option) {
    return std::ranges::find(command.options, option.name, &Option::name) == command.options.end();
  });
  append_options(out, "Global options:", globals, style);
  append_examples(out, command, style);
  append_title(out, "Exit status:", style);
  out += fmt::format("  {}\n", help_lines(exit_status_text(command), 2));
  return out;
}

std::span<const Explained> environment_variables() { return kVariables; }

std::string overview_text(const Style& style) {
  std::string out = fmt::format("{} bmad-mem [OPTION]... COMMAND [ARGUMENT]...\n{}\n\n",
                                style.bold("Usage:"), kToolPurpose);
  for (const std::string_view title : kEveryday) {
    out += style.bold(fmt::format("{}:", title));
    out += '\n';
    std::vector<const Command*> commands;
    for (const Command& command : all_commands()) {
      if (command.everyday == title) {
        commands.push_back(&command);
      }
    }
    std::ranges::sort(commands, {}, &Command::everyday_place);
    for (const Command* const command : commands) {
      out += fmt::format("  {:<10}{}\n", command->name, command->summary);
    }
  }
  out += "\n`bmad-mem help COMMAND` shows options and examples, `help --all` all commands.\n";
  return out;
}

std::string complete_overview_text(const Style& style) {
  std::string out = fmt::format("{} bmad-mem [OPTION]... COMMAND [ARGUMENT]...\n\n{}\n",
                                style.bold("Usage:"), kToolPurpose);
  for (const Group group : {Group::kStart, Group::kWrite, Group::kRead, Group::kKnow,
                            Group::kConnect, Group::kCare, Group::kTool}) {
    const auto is_of_group = [&](const Command& command) { return command.group == group; };
    std::vector<Command> commands;
    std::ranges::copy_if(all_commands(), std::back_inserter(commands), is_of_group);
    append_section(out, group_title(group), commands, &Command::name, &Command::summary, style);
  }
  append_options(out, "Global options, before or after the command:", global_options(), style);
  append_section(out, "Environment:", kVariables, &Explained::what, &Explained::says, style);
  out += "\n`bmad-mem help COMMAND` explains a command and shows examples.\n";
  return out;
}

}  // namespace bmad_mem::cli
