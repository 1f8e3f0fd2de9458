#include <fmt/core.h>

#include "cli/completion.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {
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

}  // namespace bmad_mem::cli
