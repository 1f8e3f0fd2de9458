#include <fmt/core.h>

#include "cli/help.hpp"
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

namespace {

/// {0}: patterns of options that take a value; {1}: commands of two words.
constexpr std::string_view kFishHead =
    R"sh(# fish completion for bmad-mem, made by 'bmad-mem completion fish'.
# Put it into ~/.config/fish/completions/bmad-mem.fish.

# Prints the command before the cursor, such as 'session new', or 'add decision'.
function __bmad_mem_scope
    set -l command ''
    set -l first ''
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case {0}
                set skip 1
            case '-?*'
            case '*'
                switch "$command"
                    case ''
                        set command $word
                    case {1}
                        set command "$command $word"
                    case '*'
                        test -z "$first"; and set first $word
                end
        end
    end
    if test "$command" = add -a -n "$first"
        echo "add $first"
    else
        echo $command
    end
end

function __bmad_mem_is
    test (__bmad_mem_scope) = "$argv[1]"
end

# The memory may be named on the command line.
function __bmad_mem_sessions
    set -l words (commandline -opc)
    set -l root
    if set -l at (contains -i -- --root $words)
        set root --root $words[(math $at + 1)]
    end
    $words[1] $root complete-sessions 2>/dev/null
end

complete -c bmad-mem -f
)sh";

/// `text` in single quotes.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + "'";
}

/// What `complete` needs to know about the values of an option or argument.
std::string fish_values(Completion completion, std::span<const std::string_view> choices) {
  switch (completion) {
    case Completion::kChoice:
      return fmt::format(" -x -a {}", fish_quoted(joined(choices, " ")));
    case Completion::kSession:
      return " -x -a '(__bmad_mem_sessions)'";
    case Completion::kFile:
      return " -r -F";
    case Completion::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case Completion::kNone:
      break;
  }
  return " -x";
}

void append_option(std::string& out, std::string_view condition, const Option& option) {
  out += fmt::format("complete -c bmad-mem{} -l {}", condition, option.name);
  if (option.letter != '\0') {
    out += fmt::format(" -s {}", option.letter);
  }
  if (!option.value.empty()) {
    out += fish_values(option.completion, option.choices);
  }
  out += fmt::format(" -d {}\n", fish_quoted(option.help));
}

void append_fish_words(std::string& out, std::string_view scope,
                       const std::vector<Example>& words) {
  for (const Example& word : words) {
    out += fmt::format("complete -c bmad-mem -n '__bmad_mem_is \"{}\"' -a {} -d {}\n", scope,
                       word.command, fish_quoted(word.says));
  }
}

void append_scope(std::string& out, const CompletionScope& scope) {
  const std::string condition = fmt::format(" -n '__bmad_mem_is \"{}\"'", scope.name);
  const std::size_t own_count = scope.options.size() - global_options().size();
  for (std::size_t i = 0; i < own_count; ++i) {
    append_option(out, condition, *scope.options[i]);
  }
  if (!scope.command->positionals.empty() && scope.name == scope.command->name) {
    const Positional& positional = scope.command->positionals.front();
    if (positional.completion != Completion::kNone) {
      out += fmt::format("complete -c bmad-mem{}{}\n", condition,
                         positional.completion == Completion::kFile
                             ? " -F"
                             : fish_values(positional.completion, positional.choices));
    }
  }
}

}  // namespace

std::string fish_completion() {
  std::vector<std::string_view> doubles;
  for (const Example& word : first_command_words()) {
    if (!second_command_words(word.command).empty()) {
      doubles.push_back(word.command);
    }
  }
  std::string out = fmt::format(kFishHead, joined(options_with_value(), " "), joined(doubles, " "));
  for (const Option& option : global_options()) {
    append_option(out, "", option);
  }
  append_fish_words(out, "", first_command_words());
  append_fish_words(out, "help", first_command_words());
  for (const std::string_view word : doubles) {
    append_fish_words(out, word, second_command_words(word));
  }
  for (const CompletionScope& scope : completion_scopes()) {
    append_scope(out, scope);
  }
  return out;
}

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
