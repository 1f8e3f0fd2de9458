// options.cpp - parses argv by the operation table, and names the nearest option after a slip.
#include "cli/options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {

/// Collects what the words say into Arguments.
class ArgumentReader {
 public:
  ArgumentReader(CommandLine& line, std::vector<std::string> words)
      : line_(line), words_(std::move(words)) {
    if (line.command != nullptr) {
      declare(line.command->options);
    }
    declare(global_options());
    if (line.command != nullptr && line.command->options_of != nullptr) {
      declare(line.command->options_of({}));
      if (const std::string_view first = first_positional(); !first.empty()) {
        declare(line.command->options_of(first));
        unknown_first_ = line.command->options_of(first).empty() ? first : std::string_view();
      }
    }
    given_.resize(known_.size());
  }

  void read() {
    while (at_ < words_.size()) {
      std::string& word = words_[at_++];
      if (word.size() < 2 || word.front() != '-') {
        line_.arguments.positionals_.push_back(std::move(word));
      } else if (word != "--") {
        read_option(word);
      } else {
        while (at_ < words_.size()) {
          line_.arguments.positionals_.push_back(std::move(words_[at_++]));
        }
      }
    }
    // Also after a problem: whether --json was given decides how the problem is told.
    for (std::size_t i = 0; i < known_.size(); ++i) {
      take(*known_[i], std::move(given_[i]));
    }
    if (line_.problem.empty() && !unknown_.empty()) {
      line_.problem = unknown_option(unknown_);
    }
  }

 private:
  /// What a command declares itself comes before the global option of that name.
  void declare(std::span<const Option> options) {
    for (const Option& option : options) {
      if (std::ranges::find(known_, option.name, &Option::name) == known_.end()) {
        known_.push_back(&option);
      }
    }
  }

  /// The first word that is no option and no value of one, as far as that is known without the
  /// options that depend on it: they stand behind it.
  [[nodiscard]] std::string_view first_positional() const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string& word = words_[i];
      if (word.size() < 2 || word.front() != '-') {
        return word;
      }
      const auto named = std::ranges::find_if(known_, [&](const Option* option) {
        return word == fmt::format("--{}", option->name) ||
               (option->letter != '\0' && word == fmt::format("-{}", option->letter));
      });
      i += named != known_.end() && !(*named)->value.empty() ? 1 : 0;
    }
    return {};
  }

  /// `word` is "--name", "--name=value", "-n", "-nvalue", or "-nm" for two flags.
  void read_option(const std::string& word) {
    const bool is_long = word.starts_with("--");
    const std::size_t equals = is_long ? word.find('=') : std::string::npos;
    const std::string_view name = is_long ? std::string_view(word).substr(2, equals - 2)
                                          : std::string_view(word).substr(1, 1);
    const auto known = std::ranges::find_if(known_, [&](const Option* option) {
      return is_long ? option->name == name : option->letter == name.front();
    });
    if (known == known_.end()) {
      unknown_ = unknown_.empty() ? word : unknown_;
      return;
    }
    std::vector<std::string>& values = given_[static_cast<std::size_t>(known - known_.begin())];
    const bool has_rest = is_long ? equals != std::string::npos : word.size() > 2;
    std::string rest = has_rest ? word.substr(is_long ? equals + 1 : 2) : std::string();
    if ((*known)->value.empty()) {
      const bool is_next = is_long && !has_rest && at_ < words_.size() &&
                           is_among((*known)->choices, words_[at_]);  // "--archived only"
      values.push_back(is_next ? std::move(words_[at_++]) : is_long ? rest : std::string());
      if (!is_long && has_rest) {
        words_[--at_] = "-" + rest;  // The next letter.
      }
    } else if (has_rest) {
      values.push_back(std::move(rest));
    } else if (at_ < words_.size()) {  // Whatever it begins with: "--limit -5".
      values.push_back(std::move(words_[at_++]));
    } else {
      line_.problem = fmt::format("--{} needs a value", (*known)->name);
    }
  }

  void take(const Option& option, std::vector<std::string> values) {
    if (values.empty()) {
      return;
    }
    if (option.value.empty()) {
      for (std::string& value : values) {
        take_flag(option, value);
      }
    } else if (!option.repeatable && values.size() > 1) {
      line_.problem =
          fmt::format("--{} was given {} times; it takes one value", option.name, values.size());
    }
    line_.arguments.options_.emplace_back(option.name, std::move(values));
  }

  /// "--name", or "--name=CHOICE" where there are choices.
  void take_flag(const Option& option, std::string& value) {
    if (is_among(option.choices, value)) {
      return;
    }
    if (!value.empty() && value != "true") {
      line_.problem =
          option.choices.empty()
              ? fmt::format("--{} takes no value", option.name)
              : fmt::format("--{0} takes one of {1}, as in --{0}={2}, not '{3}'", option.name,
                            joined(option.choices), option.choices.front(), value);
    }
    value.clear();
  }

  [[nodiscard]] std::string unknown_option(std::string_view word) const {
    const std::string_view name = word.substr(0, word.find('='));
    std::string text =
        fmt::format("unknown option '{}'", word.ends_with('=') && name.size() > 2 ? name : word);
    if (name.starts_with("--")) {
      if (const std::string_view near = nearest_word(name.substr(2), known_, &Option::name);
          !near.empty()) {
        return text + fmt::format("; did you mean '--{}'?", near);
      }
    }
    if (!unknown_first_.empty()) {
      return text + fmt::format("; '{}' is unknown too, see `bmad-mem help {}`", unknown_first_,
                                line_.command->name);
    }
    return text + "; to pass text that starts with a dash, put '--' before it";
  }

  CommandLine& line_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;  // The next of words_.
  std::vector<const Option*> known_;
  std::vector<std::vector<std::string>> given_;  // The values of each of known_.
  std::string unknown_;                          // The first word that names no option.
  std::string unknown_first_;                    // The first positional, if it has no options.
};

namespace {

/// Whether this word is a global option whose value is the next word.
bool takes_next_word(std::string_view word) {
  return word.starts_with("--") && std::ranges::any_of(global_options(), [&](const Option& option) {
           return option.name == word.substr(2) && !option.value.empty();
         });
}

/// Where the first word stands that is no option, from `at` on; words.size() when there is none.
std::size_t find_word(const std::vector<std::string>& words, std::size_t at) {
  while (at < words.size()) {
    const std::string& word = words[at];
    if (word == "--") {
      return words.size();
    }
    if (word.empty() || word.front() != '-') {
      return at;
    }
    at += takes_next_word(word) ? 2 : 1;
  }
  return words.size();
}

/// The names of the commands, or only their first words.
std::vector<std::string_view> command_names(bool whole) {
  const auto is_shown = [](const Command& command) { return command.group != Group::kHidden; };
  return mapped_if(all_commands(), is_shown, [&](const Command& command) {
    return whole ? command.name : command.name.substr(0, command.name.find(' '));
  });
}

std::string unknown_command(std::string_view name) {
  if (const Synonym* const synonym = find_synonym(name); synonym != nullptr) {
    return fmt::format("unknown command '{}'; {}", name, synonym->advice);
  }
  const std::string_view near =
      nearest_word(name, command_names(name.find(' ') != std::string_view::npos));
  return fmt::format("unknown command '{}'{}", name,
                     near.empty() ? std::string("; run `bmad-mem help --all` for all commands")
                                  : fmt::format("; did you mean '{}'?", near));
}

/// For a word that is no command since the option before it takes none: "--scop user list". Empty
/// for any other.
std::string misspelt_option(std::string_view before) {
  if (!before.starts_with("--") || before.contains('=')) {
    return {};
  }
  const std::string_view near = nearest_word(before.substr(2), global_options(), &Option::name);
  if (near == before.substr(2)) {
    return {};
  }
  return fmt::format("unknown option '{}'{}", before,
                     near.empty() ? "; options of a command stand behind it"
                                  : fmt::format("; did you mean '--{}'?", near));
}

/// For a word that is no command alone, as "session".
std::string incomplete_command(std::string_view word) {
  std::string names;
  for (const Command& command : all_commands()) {
    if (command.name.starts_with(word) && command.name.size() > word.size()) {
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", command.name);
    }
  }
  return fmt::format("'{}' needs a subcommand: {}", word, names);
}

/// Takes the command's name out of `words`.
void find_command_in(std::vector<std::string>& words, CommandLine& line) {
  const std::size_t first = find_word(words, 0);
  if (first == words.size()) {
    return;
  }
  std::string name = words[first];
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(first));
  if (is_command_prefix(name)) {
    const std::size_t second = find_word(words, first);
    if (second == words.size()) {
      line.problem = incomplete_command(name);
      return;
    }
    name += ' ';
    name += words[second];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(second));
  }
  line.command = find_command(name);
  if (const Synonym* const synonym = find_synonym(name);
      line.command == nullptr && synonym != nullptr && synonym->is_alias()) {
    line.command = synonym->command;
  }
  if (line.command == nullptr) {
    line.problem = misspelt_option(first > 0 ? std::string_view(words[first - 1]) : "");
    line.problem = line.problem.empty() ? unknown_command(name) : line.problem;
  }
}

/// What of the command's refusals is asked for, as a sentence with the value of its {NAME}; empty
/// for nothing.
std::string refusal(const CommandLine& line) {
  const auto value_of = [&](std::string_view name) {
    const std::optional<std::size_t> place = number_in<std::size_t>(name);
    return place ? line.arguments.positional(*place - 1) : line.arguments.value(name);
  };
  const auto is_given = [&](std::string_view term) {
    const std::size_t equals = std::min(term.find('='), term.size());
    const std::string_view name = term.substr(0, equals);
    return equals == term.size() ? line.arguments.has(name) || !value_of(name).empty()
                                 : value_of(name) == term.substr(equals + 1);
  };
  for (const auto& [what, says] : line.command->refusals) {
    if (holds(what, is_given)) {
      const std::size_t begin = std::min(says.find('{'), says.size());
      const std::size_t end = std::min(says.find('}', begin), says.size());
      const std::string_view named = says.substr(begin, end - begin);
      return named.empty()
                 ? std::string(says)
                 : fmt::format("{}{}{}", says.substr(0, begin),
                               printable(value_of(named.substr(1))), says.substr(end + 1));
    }
  }
  return {};
}

void check_positional_count(CommandLine& line) {
  std::size_t min = 0;
  std::size_t max = 0;
  for (const Positional& positional : line.command->positionals) {
    min += positional.min;
    max = positional.max == 0 || max == static_cast<std::size_t>(-1) ? static_cast<std::size_t>(-1)
                                                                     : max + positional.max;
  }
  const std::vector<std::string>& given = line.arguments.positionals();
  if (given.size() > max) {
    line.problem = fmt::format("'{}' is one argument too many", given[max]);
  } else if (given.size() < min) {
    line.problem =
        fmt::format("missing argument: {}", line.command->positionals[given.size()].name);
  } else {
    line.problem = refusal(line);
  }
}

}  // namespace

std::optional<std::string_view> Arguments::maybe(std::string_view name) const {
  const std::span<const std::string> values = all(name);
  return values.empty() ? std::nullopt : std::optional<std::string_view>(values.back());
}

std::string_view Arguments::value(std::string_view name) const {
  return maybe(name).value_or(std::string_view());
}

const std::vector<std::string>& Arguments::all(std::string_view name) const {
  static const std::vector<std::string> kNoValues;
  for (const auto& [known, values] : options_) {
    if (known == name) {
      return values;
    }
  }
  return kNoValues;
}

std::vector<std::string>& Arguments::values_of(std::string_view name) {
  return std::ranges::find(options_, name, &decltype(options_)::value_type::first)->second;
}

std::string_view Arguments::positional(std::size_t index) const {
  return index < positionals_.size() ? std::string_view(positionals_[index]) : std::string_view();
}

CommandLine read_command_line(std::vector<std::string> words) {
  CommandLine line;
  find_command_in(words, line);
  const std::string problem = std::exchange(line.problem, {});
  ArgumentReader(line, std::move(words)).read();
  line.wants_help = line.arguments.has("help");
  line.wants_version = line.arguments.has("version");
  if (!problem.empty()) {
    line.problem = problem;
  } else if (line.problem.empty() && line.command != nullptr && !line.wants_help) {
    check_positional_count(line);
  }
  return line;
}

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
  return find_by(all_commands(), name, &Command::name);
}

const Synonym* find_synonym(std::string_view name) {
  return find_by(all_synonyms(), name, &Synonym::word);
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
