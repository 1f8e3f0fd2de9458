#include <fmt/core.h>

#include "cli/completion.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {
namespace {

/// As in the script for bash. {0}: patterns of options that take a value; {1}: commands of two
/// words.
constexpr std::string_view kZshHead = R"sh(#compdef bmad-mem
# zsh completion for bmad-mem, made by 'bmad-mem completion zsh'.
# Put it as _bmad-mem into a folder of $fpath.

_bmad_mem_sessions() {{
  local -a ids
  ids=(${{(f)"$(${{words[1]}} $root complete-sessions 2>/dev/null)"}})
  compadd -a ids
}}

_bmad_mem() {{
  local cur=${{words[CURRENT]}} prev=${{words[CURRENT-1]}}
  local command='' first='' skip='' word scope
  local -a root choices
  local -i i
  for ((i = 2; i < CURRENT; i++)); do
    word=${{words[i]}}
    if [[ -n $skip ]]; then
      [[ $skip == --root ]] && root=(--root $word)
      skip=''
      continue
    fi
    case $word in
      ({0}) skip=$word ;;
      (-?*) ;;
      (*)
        case $command in
          ('') command=$word ;;
          ({1}) command="$command $word" ;;
          (*) first=${{first:-$word}} ;;
        esac
        ;;
    esac
  done
  scope=$command
  [[ $command == add && -n $first ]] && scope="add $first"

  case "$scope $prev" in
)sh";

/// `text` in single quotes.
std::string zsh_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

std::string zsh_values(Completion completion, std::span<const std::string_view> choices) {
  switch (completion) {
    case Completion::kChoice:
      return fmt::format("compadd -- {}", joined(choices, " "));
    case Completion::kSession:
      return "_bmad_mem_sessions";
    case Completion::kFile:
      return "_files";
    case Completion::kFolder:
      return "_files -/";
    case Completion::kNone:
      break;
  }
  return "_message 'a value'";
}

void append_zsh_values(std::string& out, std::string_view scope, const Option& option) {
  if (option.value.empty()) {
    return;
  }
  std::string pattern = fmt::format("'{} --{}'", scope, option.name);
  if (option.letter != '\0') {
    pattern += fmt::format("|'{} -{}'", scope, option.letter);
  }
  out += fmt::format("    ({}) {}; return ;;\n", pattern,
                     zsh_values(option.completion, option.choices));
}

/// name:description, for _describe.
std::string described(std::string_view name, std::string_view help) {
  return fmt::format("        {}\n", zsh_quoted(fmt::format("{}:{}", name, help)));
}

void append_zsh_words(std::string& out, std::string_view pattern,
                      const std::vector<Example>& words) {
  out += fmt::format("    ({})\n      choices=(\n", pattern);
  for (const Example& word : words) {
    out += described(word.command, word.says);
  }
  out += "      )\n      _describe command choices\n      ;;\n";
}

void append_zsh_arguments(std::string& out, const CompletionScope& scope) {
  out +=
      fmt::format("    ('{}')\n      if [[ $cur == -* ]]; then\n        choices=(\n", scope.name);
  for (const Option* option : scope.options) {
    out += described(fmt::format("--{}", option->name), option->help);
  }
  out += "        )\n        _describe option choices\n";
  if (!scope.command->positionals.empty() && scope.name == scope.command->name) {
    const Positional& positional = scope.command->positionals.front();
    if (positional.completion != Completion::kNone) {
      out += fmt::format("      else\n        {}\n",
                         zsh_values(positional.completion, positional.choices));
    }
  }
  out += "      fi\n      ;;\n";
}

}  // namespace

std::string zsh_completion() {
  std::vector<std::string_view> doubles;
  for (const Example& word : first_command_words()) {
    if (!second_command_words(word.command).empty()) {
      doubles.push_back(word.command);
    }
  }
  std::string out = fmt::format(kZshHead, joined(options_with_value(), "|"), joined(doubles, "|"));
  const std::vector<CompletionScope> scopes = completion_scopes();
  for (const CompletionScope& scope : scopes) {
    for (const Option* option : scope.options) {
      append_zsh_values(out, scope.name, *option);
    }
  }
  for (const Option& option : global_options()) {
    append_zsh_values(out, "", option);
  }
  out += "  esac\n\n  case $scope in\n";
  append_zsh_words(out, "''|help", first_command_words());
  for (const std::string_view word : doubles) {
    append_zsh_words(out, word, second_command_words(word));
  }
  for (const CompletionScope& scope : scopes) {
    if (scope.name != "help") {
      append_zsh_arguments(out, scope);
    }
  }
  out +=
      "  esac\n}\n\nif [[ $funcstack[1] == _bmad-mem ]]; then\n  _bmad_mem \"$@\"\nelse\n"
      "  compdef _bmad_mem bmad-mem\nfi\n";
  return out;
}

}  // namespace bmad_mem::cli
