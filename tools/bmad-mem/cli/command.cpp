// command.cpp - the options of every command, and looking commands up.
#include "cli/command.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 3> kColorChoices = {"auto", "always", "never"};

constexpr std::array<std::string_view, 2> kScopes = {"project", "user"};

constexpr std::array kGlobalOptions = {
    Option{.name = "root",
           .value = "DIR",
           .help = "the memory's folder, the one that holds config.json",
           .fallback = "$BMAD_MEMORY_ROOT, else the nearest .bmad/memory upwards from here",
           .completion = Completion::kFolder},
    Option{.name = "scope",
           .value = "WHOSE",
           .help = "project: only this memory; user: your own, for all projects",
           .fallback = "this memory, and answers also take in your own",
           .completion = Completion::kChoice,
           .choices = kScopes},
    Option{.name = "json", .help = "print one JSON object a line"},
    Option{.name = "agent-id",
           .value = "NAME",
           .help = "agent name for the audit log and the lock",
           .fallback = "$BMAD_AGENT_ID"},
    Option{.name = "workflow",
           .value = "FILE",
           .help = "allow only the types in this workflow's memory_requirements",
           .fallback = "$BMAD_MEM_WORKFLOW",
           .completion = Completion::kFile},
    Option{.name = "color",
           .value = "WHEN",
           .help = "when to use colours",
           .fallback = "auto",
           .completion = Completion::kChoice,
           .choices = kColorChoices},
    Option{.name = "quiet", .letter = 'q', .help = "no notes, warnings and progress on stderr"},
    Option{.name = "help", .letter = 'h', .help = "explain the command and show examples"},
    Option{.name = "version", .help = "print the version"},
};

}  // namespace

std::span<const Option> global_options() { return kGlobalOptions; }

const Command* find_command(std::string_view name) {
  const std::span<const Command> all = all_commands();
  const auto found = std::ranges::find(all, name, &Command::name);
  return found == all.end() ? nullptr : &*found;
}

const Synonym* find_synonym(std::string_view name) {
  const std::span<const Synonym> all = all_synonyms();
  const auto found = std::ranges::find(all, name, &Synonym::word);
  return found == all.end() ? nullptr : &*found;
}

bool is_command_prefix(std::string_view word) {
  return std::ranges::any_of(all_commands(), [&](const Command& command) {
    return command.name.size() > word.size() && command.name.starts_with(word) &&
           command.name[word.size()] == ' ';
  });
}

std::string_view group_title(Group group) {
  static constexpr std::array<std::string_view, 8> kTitles = {
      "Memory and sessions:",     "Write:", "Find and read:", "Knowledge:",
      "Agents, editors and git:", "Care:",  "The tool:",      "For other programs:"};
  return kTitles[static_cast<std::size_t>(group)];
}

}  // namespace bmad_mem::cli
