// help.cpp - prints the help of a command, from the operation table.
#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/entry_options.hpp"
#include "cli/filters.hpp"
#include "cli/tool.hpp"
#include "cli/view_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kUsualExitStatus =
    "0 done, 1 failed (the error's code is on stderr), 2 wrong usage (nothing was touched).";
constexpr std::string_view kReadingExitStatus =
    "0 done, 1 failed (the error's code is on stderr), 2 wrong usage (nothing was touched), "
    "4 something could not be read (it is named; the rest is answered).";

/// The titles of the short help, which shows what somebody needs in the first hour; with titles and
/// footer it is one screen of 24 lines.
constexpr std::string_view kEveryday[] = {"Store", "Ask", "Agents and people", "Look after"};

constexpr Group kGroups[] = {Group::kStart,   Group::kWrite, Group::kRead, Group::kKnow,
                             Group::kConnect, Group::kCare,  Group::kTool};

/// Objects of a head and what explains it.
std::vector<RawJson> items_of(const auto& all, const auto& head, const auto& help) {
  return mapped(all, [&](const auto& each) {
    return raw_object("head", std::invoke(head, each), "help", std::invoke(help, each));
  });
}

/// "-n, --limit N" or "    --json".
std::string option_head(const Option& option) {
  const bool is_choice = option.value.empty() && !option.choices.empty();
  return fmt::format(
      "{}--{}{}{}",
      option.letter == '\0' ? std::string("    ") : fmt::format("-{}, ", option.letter),
      option.name, option.value.empty() ? "" : " ", is_choice ? "[=WHICH]" : option.value);
}

/// The option's help with its choices, its default and whether it can be repeated.
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

std::vector<RawJson> options_of(std::span<const Option> options) {
  return items_of(options, option_head, option_help);
}

std::vector<RawJson> arguments_of(const Command& command) {
  return items_of(command.positionals, &Positional::name, &Positional::help);
}

std::vector<RawJson> glossary_of(const Command& command) {
  return items_of(command.glossary, &Explained::what,
                  [](const Explained& each) { return with_fields(each.says); });
}

std::vector<RawJson> examples_of(const Command& command) {
  return items_of(command.examples, &Example::command, &Example::says);
}

RawJson section(std::string_view title, const std::vector<RawJson>& rows) {
  return raw_object("title", title, "rows", rows);
}

std::vector<const Command*> commands_with(auto member, const auto& value) {
  return mapped_if(
      all_commands(), [&](const Command& command) { return command.*member == value; },
      [](const Command& command) { return &command; });
}

/// The options that the command has whatever its first positional.
std::vector<Option> options_of_all(const Command& command) {
  std::vector<Option> options(command.options.begin(), command.options.end());
  if (command.options_of != nullptr) {
    const std::span<const Option> more = command.options_of({});
    options.insert(options.end(), more.begin(), more.end());
  }
  return options;
}

/// "search, find"; empty when the command has no alias.
std::string alias_list(const Command& command) {
  std::string out;
  for (const Synonym& synonym : all_synonyms()) {
    if (synonym.command == &command && synonym.is_alias()) {
      out += fmt::format("{}{}", out.empty() ? "" : ", ", synonym.word);
    }
  }
  return out;
}

/// "bmad-mem add [OPTION]... TYPE [TEXT|JSON|-]".
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

RawJson on_man_page(const Command* command) {
  std::vector<RawJson> fields;
  for (const std::string_view type :
       command->options_of == nullptr ? std::span<const std::string_view>() : kTypeNames) {
    fields.push_back(section(type, options_of(command->options_of(type))));
  }
  return raw_object("usage", usage_line(*command), "description", command->description, "aliases",
                    alias_list(*command), "arguments", arguments_of(*command), "options",
                    options_of(options_of_all(*command)), "fields", fields, "glossary_title",
                    command->glossary_title, "glossary", glossary_of(*command), "exit_status",
                    command->exit_status, "examples", examples_of(*command));
}

/// What the exit statuses mean for this command.
std::string_view exit_status_text(const Command& command) {
  if (!command.exit_status.empty()) {
    return command.exit_status;
  }
  return answers(command) ? kReadingExitStatus : kUsualExitStatus;
}

}  // namespace

std::string help_text(const Command& command, std::string_view first, const Style& style) {
  std::vector<Option> globals;  // But for those that mean something else here.
  std::ranges::copy_if(global_options(), std::back_inserter(globals), [&](const Option& option) {
    return std::ranges::find(command.options, option.name, &Option::name) == command.options.end();
  });
  const bool has_fields = command.options_of != nullptr && !first.empty();
  const std::vector<RawJson> sections = {
      section("Arguments:", arguments_of(command)),
      section("Options:", options_of(options_of_all(command))),
      section(fmt::format("Fields of {}:", first),
              options_of(has_fields ? command.options_of(first) : std::span<const Option>())),
      section(command.glossary_title, glossary_of(command)),
      section("Global options:", options_of(globals))};
  const std::string help =
      json_object("usage", usage_line(command), "description", command.description, "aliases",
                  alias_list(command), "sections", sections, "examples", examples_of(command),
                  "exit_status", exit_status_text(command));
  return view_text("help", help, style, 0).text;
}

std::string overview_text(const Style& style) {
  const auto sections = mapped(kEveryday, [](std::string_view title) {
    std::vector<const Command*> commands = commands_with(&Command::everyday, title);
    std::ranges::sort(commands, {}, &Command::everyday_place);
    return section(title, items_of(commands, &Command::name, &Command::summary));
  });
  return view_text("overview", json_object("sections", sections), style, 0).text;
}

std::string complete_overview_text(const Style& style) {
  std::vector<RawJson> sections = mapped(kGroups, [](Group group) {
    return section(group_title(group), items_of(commands_with(&Command::group, group),
                                                &Command::name, &Command::summary));
  });
  sections.push_back(
      section("Global options, before or after the command:", options_of(global_options())));
  return view_text("complete_overview", json_object("sections", sections), style, 0).text;
}

std::string man_page() {
  const auto groups = mapped(kGroups, [](Group group) {
    const auto pages = mapped(commands_with(&Command::group, group), on_man_page);
    return raw_object("title", group_title(group), "commands", pages);
  });
  const std::string page = json_object("version", tool_version(), "options",
                                       options_of(global_options()), "groups", groups);
  return view_text("man", page, Style(false), 0).text;
}

}  // namespace bmad_mem::cli
