#include <algorithm>

#include <fmt/core.h>

#include "cli/filters.hpp"
#include "cli/help.hpp"

namespace bmad_mem::cli {
namespace {

void add_options(std::vector<const Option*>& all, std::span<const Option> options) {
  for (const Option& option : options) {
    all.push_back(&option);
  }
}

CompletionScope scope_of(const Command& command, std::string_view first) {
  CompletionScope scope{.name = std::string(command.name), .command = &command, .options = {}};
  add_options(scope.options, command.options);
  if (command.options_of != nullptr) {
    add_options(scope.options, command.options_of({}));
  }
  if (!first.empty()) {
    scope.name += " ";
    scope.name += first;
    add_options(scope.options, command.options_of(first));
  }
  add_options(scope.options, global_options());
  return scope;
}

}  // namespace

std::vector<CompletionScope> completion_scopes() {
  std::vector<CompletionScope> scopes;
  for (const Command& command : all_commands()) {
    if (command.group == Group::kHidden) {
      continue;
    }
    if (command.options_of != nullptr) {
      for (const std::string_view type : kTypeNames) {
        scopes.push_back(scope_of(command, type));
      }
    }
    scopes.push_back(scope_of(command, {}));
  }
  return scopes;
}

std::vector<Example> first_command_words() {
  std::vector<Example> words;
  for (const Command& command : all_commands()) {
    if (command.group == Group::kHidden) {
      continue;
    }
    const std::size_t blank = command.name.find(' ');
    const std::string_view word = command.name.substr(0, blank);
    const bool is_new =
        std::ranges::none_of(words, [&](const Example& known) { return known.command == word; });
    if (is_new) {
      words.push_back(
          {.command = word,
           .says = blank == std::string_view::npos ? command.summary : "make, list, show, close"});
    }
  }
  return words;
}

std::vector<Example> second_command_words(std::string_view first) {
  std::vector<Example> words;
  for (const Command& command : all_commands()) {
    const std::size_t blank = command.name.find(' ');
    if (blank != std::string_view::npos && command.name.substr(0, blank) == first) {
      words.push_back({.command = command.name.substr(blank + 1), .says = command.summary});
    }
  }
  return words;
}

std::vector<std::string> options_with_value() {
  std::vector<std::string> names;
  for (const CompletionScope& scope : completion_scopes()) {
    for (const Option* option : scope.options) {
      if (!option->value.empty()) {
        names.push_back(fmt::format("--{}", option->name));
        if (option->letter != '\0') {
          names.push_back(fmt::format("-{}", option->letter));
        }
      }
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

}  // namespace bmad_mem::cli
