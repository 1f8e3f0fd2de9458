#include <fmt/core.h>

#include "cli/completion.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {
namespace {

/// Finds out where the cursor is: `command`, its first argument, `scope`. {0}: patterns of options
/// that take a value; {1}: commands of two words, as "session".
constexpr std::string_view kBashHead =
    R"sh(# bash completion for bmad-mem, made by 'bmad-mem completion bash'.
# Put it into ~/.local/share/bash-completion/completions/bmad-mem.

_bmad_mem() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  local command='' first='' skip='' word i scope
  local root=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    if [[ $skip ]]; then
      [[ $skip == --root ]] && root=(--root "$word")
      skip=''
      continue
    fi
    case $word in
      {0}) skip=$word ;;
      -?*) ;;
      *)
        case $command in
          '') command=$word ;;
          {1}) command="$command $word" ;;
          *) first=${{first:-$word}} ;;
        esac
        ;;
    esac
  done
  scope=$command
  [[ $command == add && $first ]] && scope="add $first"

  case "$scope $prev" in
)sh";

constexpr std::string_view kSessions =
    R"sh(mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" "${root[@]}" complete-sessions 2>/dev/null)" -- "$cur"))sh";

/// The command that fills COMPREPLY with words.
std::string reply_with(std::string_view words) {
  return fmt::format(R"sh(mapfile -t COMPREPLY < <(compgen -W '{}' -- "$cur"))sh", words);
}

std::string reply_with_values(Completion completion, std::span<const std::string_view> choices) {
  switch (completion) {
    case Completion::kChoice:
      return reply_with(joined(choices, " "));
    case Completion::kSession:
      return std::string(kSessions);
    case Completion::kFile:
      return R"sh(mapfile -t COMPREPLY < <(compgen -f -- "$cur"))sh";
    case Completion::kFolder:
      return R"sh(mapfile -t COMPREPLY < <(compgen -d -- "$cur"))sh";
    case Completion::kNone:
      break;
  }
  return "COMPREPLY=()";
}

/// What may stand behind an option.
void append_bash_values(std::string& out, const CompletionScope& scope) {
  for (const Option* option : scope.options) {
    if (option->value.empty()) {
      continue;
    }
    std::string pattern = fmt::format("'{} --{}'", scope.name, option->name);
    if (option->letter != '\0') {
      pattern += fmt::format("|'{} -{}'", scope.name, option->letter);
    }
    out += fmt::format("    {})\n      {}\n      return\n      ;;\n", pattern,
                       reply_with_values(option->completion, option->choices));
  }
}

std::string option_words(const CompletionScope& scope) {
  std::string words;
  for (const Option* option : scope.options) {
    words += fmt::format("{}--{}", words.empty() ? "" : " ", option->name);
  }
  return words;
}

/// What may stand in place of an argument.
void append_bash_arguments(std::string& out, const CompletionScope& scope) {
  out += fmt::format("    '{}')\n      if [[ $cur == -* ]]; then\n        {}\n", scope.name,
                     reply_with(option_words(scope)));
  if (!scope.command->positionals.empty() && scope.name == scope.command->name) {
    const Positional& positional = scope.command->positionals.front();
    if (positional.completion != Completion::kNone) {
      out += fmt::format("      else\n        {}\n",
                         reply_with_values(positional.completion, positional.choices));
    }
  }
  out += "      fi\n      ;;\n";
}

void append_command_words(std::string& out) {
  std::vector<std::string_view> words;
  for (const Example& word : first_command_words()) {
    words.push_back(word.command);
    std::vector<std::string_view> second;
    for (const Example& next : second_command_words(word.command)) {
      second.push_back(next.command);
    }
    if (!second.empty()) {
      out += fmt::format("    {})\n      {}\n      ;;\n", word.command,
                         reply_with(joined(second, " ")));
    }
  }
  std::string globals;
  for (const Option& option : global_options()) {
    globals += fmt::format(" --{}", option.name);
  }
  out +=
      fmt::format("    ''|help)\n      {}\n      ;;\n", reply_with(joined(words, " ") + globals));
}

}  // namespace

std::string bash_completion() {
  std::vector<std::string_view> doubles;
  for (const Example& word : first_command_words()) {
    if (!second_command_words(word.command).empty()) {
      doubles.push_back(word.command);
    }
  }
  std::string out = fmt::format(kBashHead, joined(options_with_value(), "|"), joined(doubles, "|"));
  const std::vector<CompletionScope> scopes = completion_scopes();
  for (const CompletionScope& scope : scopes) {
    append_bash_values(out, scope);
  }
  for (const Option& option : global_options()) {
    if (!option.value.empty()) {
      out += fmt::format("    ' --{}')\n      {}\n      return\n      ;;\n", option.name,
                         reply_with_values(option.completion, option.choices));
    }
  }
  out += "  esac\n\n  case $scope in\n";
  append_command_words(out);
  for (const CompletionScope& scope : scopes) {
    if (scope.name != "help") {
      append_bash_arguments(out, scope);
    }
  }
  out += "  esac\n}\n\ncomplete -o filenames -o bashdefault -F _bmad_mem bmad-mem\n";
  return out;
}

}  // namespace bmad_mem::cli
