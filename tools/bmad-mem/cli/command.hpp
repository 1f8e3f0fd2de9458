// command.hpp - what a command of the tool is: a declaration and a function.
//
//   Command ──┬─> options.cpp      reads the arguments
//             ├─> help.cpp         --help, help COMMAND, bmad-mem.1
//             └─> completion.cpp   bash, zsh, fish
//
// The declarations are made from the operation table, lib/operations/table/: a new command is a row
// there, a function run_NAME in commands/ and a case in tests/cli. All are constants: nothing is
// built before it is needed, because an agent's hook starts the tool for each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {

class Tool;

/// The exit status of the process.
enum class ExitStatus : std::uint8_t {
  kDone = 0,
  kFailed = 1,
  kWrongUsage = 2,    ///< Nothing was touched.
  kNothingFound = 3,  ///< No entry has the id; no saved state; no update is due.
  kIncomplete = 4,    ///< Answered, but without something that could not be read.
  kStopped = 130,     ///< As shells report SIGINT: what was stored until then stays.
  kNoReader = 141,    ///< As shells report SIGPIPE: `head` has read enough.
};

/// What a shell offers for a value.
enum class Completion : std::uint8_t { kNone, kChoice, kSession, kSetting, kFile, kFolder };

/// An option, `--name` or `--name VALUE`; a flag with choices also takes `--name=CHOICE`.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order in which one writes them.
struct Option {
  std::string_view name;        ///< Without dashes: "made-by".
  char letter = '\0';           ///< 'n' for `-n`; '\0' for none.
  std::string_view value = {};  ///< What stands for the value in help: "NAME"; empty for a flag.
  std::string_view help = {};   ///< One line, lower case, no full stop.
  bool repeatable = false;
  std::string_view fallback = {};  ///< What holds without the option, as help shows it.
  Completion completion = Completion::kNone;
  std::span<const std::string_view> choices = {};  ///< For kChoice.
};

/// An argument that is told by its place. Those that may be absent or repeated stand last.
struct Positional {
  std::string_view name;  ///< "TYPE"
  std::string_view help;
  std::size_t min = 1;  ///< How many there must be: 0 or 1.
  std::size_t max = 1;  ///< How many there may be; 0: any number.
  Completion completion = Completion::kNone;
  std::span<const std::string_view> choices = {};
};

struct Example {
  std::string_view command;
  std::string_view says;  ///< What it does, as half a sentence.
};

/// Something that help explains in a table: "-word", "entries that hold it are left out".
struct Explained {
  std::string_view what;
  std::string_view says;
};

/// The groups in which help lists the commands.
enum class Group : std::uint8_t { kStart, kWrite, kRead, kKnow, kConnect, kCare, kTool, kHidden };

struct Command {
  std::string_view name;  ///< "add", "session new".
  Group group;
  std::string_view everyday = {};  ///< Its title in the short help; empty: not there.
  int everyday_place = 0;          ///< Among those of the title.
  std::string_view summary;        ///< One line, lower case, no full stop.
  std::string_view description;    ///< Whole sentences; paragraphs are separated by an empty line.
  std::span<const Positional> positionals = {};
  std::span<const Option> options = {};
  /// A table of its own below the options, such as a language that an argument is written in.
  std::string_view glossary_title = {};
  std::span<const Explained> glossary = {};
  std::span<const Example> examples = {};
  /// What can't be asked for, and why. In a condition, see holds(): an option's name, alone or with
  /// its value, "outcome=failure"; a number n stands for an nth argument that is not empty. The
  /// first that holds counts; where it says nothing, nothing is refused.
  std::span<const Explained> refusals = {};
  /// What each exit status means here; empty for the usual three.
  std::string_view exit_status = {};
  /// Further options, made when asked for: by the first positional, as TYPE; for "" the usual ones.
  std::span<const Option> (*options_of)(std::string_view first) = nullptr;
  /// run_session_new(), which the table of commands declares.
  Result<ExitStatus> (*run)(Tool& tool) = nullptr;
  /// Whether what it prints answers a question from many files: see answers().
  bool reads = false;
};

/// Whether the command's exit status and output say that something could not be read.
constexpr bool answers(const Command& command) {
  return command.group == Group::kRead || command.reads;
}

/// All commands, in the order of help.
std::span<const Command> all_commands();

/// A word that people type for a command of another name.
struct Synonym {
  std::string_view word;  ///< "search", "session ls".
  const Command* command;
  /// What to type instead, where the word does not mean exactly what the command does; the
  /// command's name stands in it. Empty for an alias.
  std::string_view advice = {};

  [[nodiscard]] constexpr bool is_alias() const { return advice.empty(); }
};

/// All synonyms. None is the name of a command.
std::span<const Synonym> all_synonyms();

/// The synonym of this name; null when there is none.
const Synonym* find_synonym(std::string_view name);

/// The options that every command takes, before or after its name.
std::span<const Option> global_options();

/// The command of this name; null when there is none.
const Command* find_command(std::string_view name);

/// Whether some command's name starts with this word and a blank, as "session" does.
bool is_command_prefix(std::string_view word);

/// The name of the group as help shows it.
std::string_view group_title(Group group);

// What `--help` and `help` print, made from the declarations of the commands.

/// The commands that everybody needs, on one screen.
std::string overview_text(const Style& style);

/// All commands in groups, and the global options.
std::string complete_overview_text(const Style& style);

/// Usage, description, arguments, options with defaults, examples and exit status of one command.
/// `first` is its first positional, for commands whose options hang on it; may be empty.
std::string help_text(const Command& command, std::string_view first, const Style& style);

// Bmad-mem.1, made from the declarations of the commands.

/// The page as roff, for man(7) macros.
std::string man_page();

}  // namespace bmad_mem::cli
