// tool.cpp - the tool about itself; and what a shell offers when the user presses Tab.
//
//   shell ─> bmad-mem complete-words -- session sh
//         <─ show \t show the details of a session
//
// The scripts for the shells only ask: which words can stand at the cursor is decided here, by the
// tables of the commands.
#include "cli/tool.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/settings.hpp"
#include "cli/command.hpp"
#include "cli/entry_options.hpp"
#include "cli/options.hpp"
#include "cli/view_text.hpp"

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

namespace {

// Said instead of words where the shell knows better.
constexpr std::string_view kFiles = ":files";
constexpr std::string_view kFolders = ":folders";

/// Prints the words that can stand where `begun` does, each with what help says of it.
class WordOffer {
 public:
  /// `line`: the words before it.
  WordOffer(Tool& tool, const CommandLine& line, std::string_view begun)
      : tool_(tool), line_(line), begun_(begun) {}

  /// The first words of commands; or, of those that begin with `group`, the second ones.
  void commands(std::string_view group = {}) {
    std::string_view last;  // "session new" and "session list" begin with the same word.
    for (const Command& command : all_commands()) {
      const std::size_t blank = command.name.find(' ');
      const std::string_view first = command.name.substr(0, blank);
      const bool is_one_word = blank == std::string_view::npos;
      if (command.group == Group::kHidden || (group.empty() ? first == last : first != group)) {
        continue;
      }
      last = first;
      word(group.empty() ? first : command.name.substr(blank + 1),
           is_one_word || !group.empty() ? command.summary : "make, list, show, close");
    }
  }

  void options() {
    each_option([&](const Option& option) { word("--" + std::string(option.name), option.help); });
  }

  /// The values of the option that `name` is, as "--limit" or "-n". False when it is none that
  /// takes a value.
  bool values_of(std::string_view name) {
    bool is_one = false;
    each_option([&](const Option& option) {
      const bool is_named = name.starts_with("--")
                                ? name.substr(2) == option.name
                                : name.size() == 2 && name[0] == '-' && name[1] == option.letter;
      if (is_named && !option.value.empty() && !is_one) {
        is_one = true;
        values(option.completion, option.choices);
      }
    });
    return is_one;
  }

  /// What the argument can be that stands behind those there are.
  void argument() {
    const std::span<const Positional> all = line_.command->positionals;
    const std::size_t place = line_.arguments.positionals().size();
    if (!all.empty() && (place < all.size() || all.back().max == 0)) {
      const Positional& positional = all[std::min(place, all.size() - 1)];
      values(positional.completion, positional.choices);
    }
  }

 private:
  void word(std::string_view text, std::string_view says = {}) {
    if (text.starts_with(begun_)) {
      tool_.out().print("{}\t{}\n", text, says);
    }
  }

  template <typename Visit>
  void each_option(const Visit& visit) const {
    if (const Command* const command = line_.command; command != nullptr) {
      std::ranges::for_each(command->options, visit);
      if (const std::string_view first = line_.arguments.positional(0);
          command->options_of != nullptr) {
        std::ranges::for_each(command->options_of({}), visit);
        std::ranges::for_each(
            first.empty() ? std::span<const Option>() : command->options_of(first), visit);
      }
    }
    std::ranges::for_each(global_options(), visit);
  }

  void values(Completion completion, std::span<const std::string_view> choices) {
    if (completion == Completion::kFile || completion == Completion::kFolder) {
      tool_.out().print("{}\n", completion == Completion::kFile ? kFiles : kFolders);
    } else if (completion == Completion::kSession) {
      sessions();
    } else if (completion == Completion::kSetting) {
      std::ranges::for_each(setting_keys(), [&](const std::string& key) { word(key); });
    } else {
      std::ranges::for_each(choices, [&](std::string_view choice) { word(choice); });
    }
  }

  /// Of the memory that the line names, archived ones too.
  void sessions() {
    const auto offer = [&](const auto& sessions) {
      for (std::size_t i = 0; sessions && i < sessions->size(); ++i) {
        word((*sessions)[i].session_id);
      }
    };
    if (const Result<MemoryManager> memory = tool_.open(line_.arguments.value("root"))) {
      offer(memory->list_sessions());
      offer(memory->archived_sessions());
    }
  }

  Tool& tool_;
  const CommandLine& line_;
  std::string_view begun_;
};

}  // namespace

Result<ExitStatus> run_complete_words(Tool& tool) {
  std::vector<std::string> words = tool.args().positionals();
  if (words.empty()) {
    return tool.wrong_usage("give the words up to the cursor behind '--'");
  }
  const std::string begun = std::move(words.back());
  words.pop_back();
  const CommandLine line = read_command_line(words);
  const auto group = std::ranges::find_if(words, is_command_prefix);
  WordOffer offer(tool, line, begun);
  if (!words.empty() && offer.values_of(words.back())) {
    // An option waits for its value.
  } else if (begun.starts_with('-')) {
    offer.options();
  } else if (line.command == nullptr && group != words.end()) {
    offer.commands(*group);
  } else if (line.command == nullptr && line.problem.empty()) {
    offer.commands();
  } else if (line.command != nullptr && line.command->name == "help") {
    offer.commands(line.arguments.positional(0));
  } else if (line.command != nullptr) {
    offer.argument();
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_completion(Tool& tool) {
  const std::string_view shell = tool.args().positional(0);
  tool.out().write(view_named(fmt::format("completion.{}", shell)));
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
