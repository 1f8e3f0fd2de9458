// tool.hpp - one run of the tool: its arguments, its memory, its ways out.
//
//   stdout  results: text for people, or one JSON object a line with --json
//   stderr  errors, notes, progress
//
// An answer that goes without something that can't be read: an error on stderr for each, exit
// status 4, and with --json a last line {"incomplete":[{"code":…,"message":…,"path":…},…]}.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/trust.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/results.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {

/// The tool's own version, that of the project.
std::string_view tool_version();

/// The value of an environment variable; empty when it isn't set.
std::string_view environment(const char* name);

/// Where the process was started; empty when that folder is gone.
std::string working_directory();

/// A variable of the environment, and what comes after the folder that it names.
using FolderPlace = std::pair<const char*, std::string_view>;
/// The first of `places` whose variable names a folder; empty when none does.
std::string folder_of_environment(std::span<const FolderPlace> places);

/// The folder of the user's own memory: $XDG_DATA_HOME/bmad-mem, else ~/.local/share/bmad-mem;
/// empty when neither variable names a folder.
std::string user_memory_root();

/// The folder of the user's state: $XDG_STATE_HOME/bmad-mem, else ~/.local/state/bmad-mem; empty
/// when neither variable names a folder. Then nobody's memory is trusted: see trusting_folder().
std::string user_state_folder();

/// The same for OpenOptions: never empty, so that something is checked.
std::string trusting_folder();

/// The key that the environment names, for OpenOptions: $BMAD_MEM_KEY, $BMAD_MEM_KEY_FILE or
/// $BMAD_MEM_PASSPHRASE, else bmad-mem/keys in the folder of the user's settings.
EncryptionKeySource encryption_key_here();

/// Whether somebody made a memory in the folder `root`, which may be empty.
bool has_memory(const std::string& root);
/// The folder around the .bmad/memory `root`; empty for a memory that stands elsewhere.
std::string project_folder(std::string_view root);
/// The name of the folder that the memory belongs to: "shop" for /home/ann/shop/.bmad/memory.
std::string project_name(std::string_view root);

/// What is wrong with the files of rules, for who writes or asks: sentences with file and line. To
/// read the files costs 50 us a rule, which who only reads a memory needn't pay: so it isn't said
/// when a memory is opened.
std::vector<std::string> rule_warnings(const MemoryManager& memory);

class Tool {
 public:
  /// `arguments` as read_command_line() gave them; `command` may be null.
  Tool(const Command* command, Arguments arguments);

  [[nodiscard]] const Arguments& args() const { return arguments_; }
  /// For what completes names before the command runs.
  [[nodiscard]] Arguments& args_to_complete() { return arguments_; }
  [[nodiscard]] bool json() const { return json_; }
  [[nodiscard]] bool quiet() const { return quiet_; }
  /// How stdout may be coloured.
  [[nodiscard]] const Style& style() const { return style_; }
  [[nodiscard]] Output& out() { return out_; }
  /// Columns of the terminal on stdout; 0 when it is none.
  [[nodiscard]] std::size_t columns() const;
  /// Who writes: --agent-id, else $BMAD_AGENT_ID.
  [[nodiscard]] std::string_view agent_id() const;

  /// What says that an agent runs the tool, such as "$CLAUDECODE"; empty for a person.
  [[nodiscard]] std::string agent_sign() const;
  /// By whom the tool's lines are.
  [[nodiscard]] Origin writes_as() const {
    return agent_sign().empty() ? Origin::kPerson : Origin::kAgent;
  }

  /// What is wrong with the values of the global options, as a sentence; empty when nothing is.
  [[nodiscard]] std::string global_problem() const;

  /// Whether --scope of the tool, and not of the command, names the user's own memory.
  [[nodiscard]] bool is_for_user() const { return scope() == "user"; }
  /// The user's memory for OpenOptions::user_root; empty with --scope.
  [[nodiscard]] std::string user_root() const {
    return scope().empty() ? user_memory_root() : std::string();
  }

  /// The folder of the memory that the command line, the environment or the working directory
  /// names; `root` comes before all. Errors: those of MemoryManager::find_root.
  [[nodiscard]] Result<std::string> find_root(std::string_view root = {}) const;
  /// Whose memory was asked for: "project", "user" or nothing.
  [[nodiscard]] std::string_view scope() const;
  /// What the workflow allows that the command line or the environment names; nothing without one.
  /// Errors: those of read_workflow.
  [[nodiscard]] Result<std::optional<MemoryAccess>> access() const;
  /// The memory in that folder. Warnings about its config go to stderr. Errors: those of
  /// MemoryManager::open, find_root and access.
  /// `encryption_key`: encryption_key_here() when absent. `tolerate_bad_config`: see OpenOptions.
  Result<MemoryManager> open(std::string_view root = {},
                             std::optional<EncryptionKeySource> encryption_key = {},
                             bool tolerate_bad_config = false);
  /// Where `init` puts a memory.
  [[nodiscard]] std::string root_to_create() const;

  /// Prints the error, as a sentence or as JSON, on stderr. The exit status of a command that ends
  /// with it.
  ExitStatus report(const Error& error);
  /// Reports each of them.
  void report_all(std::span<const Error> errors);
  /// As report(), and for people the place in `text` that the error's line and column name.
  ExitStatus report_in(const Error& error, std::string_view text);
  /// Reports, once, what an answer goes without, and why. A command that answers() ends with
  /// kIncomplete then.
  void leave_out(const Error& problem);
  [[nodiscard]] bool has_left_out() const { return !left_out_.empty(); }
  /// Says about what was left out only on stderr: stdout has a format of its own.
  void keep_format() { keeps_format_ = true; }
  /// Prints a sentence on stderr, unless --quiet or --json. The status of a command that ends with
  /// it: so with what prints below.
  ExitStatus note(std::string_view sentence);
  void notes(std::span<const std::string> sentences);
  /// Prints why the command line makes no sense, and where help is.
  ExitStatus wrong_usage(std::string_view sentence);

  /// Writes what is left. `status`, or kFailed when the output could not be written.
  ExitStatus finish(ExitStatus status);

 private:
  const Command* command_;
  Arguments arguments_;
  bool json_;
  bool quiet_;
  ExitStatus settle_incomplete(ExitStatus status);

  Style style_;
  Output out_;
  Output err_;
  std::vector<Error> left_out_;
  bool keeps_format_ = false;
};

/// Prints a line of JSON: the object of these members, see put_all().
ExitStatus print_object(Tool& tool, const auto&... members) {
  tool.out().print("{}\n", json_object(members...));
  return ExitStatus::kDone;
}

/// Prints a line for each of `all`, by `shape`.
void print_objects(Tool& tool, const auto& shape, const auto& all, const auto&... with) {
  for (const auto& each : all) {
    print_object(tool, shaped(shape, each, with...));
  }
}

/// Prints for people what `view` of views.toml says of `object`, JSON.
void print_view(Tool& tool, std::string_view view, std::string_view object);

/// Prints for people what `view` says of these members, see put_all(); with --json nothing.
ExitStatus describe(Tool& tool, std::string_view view, const auto&... members) {
  if (!tool.json()) {
    print_view(tool, view, json_object(members...));
  }
  return ExitStatus::kDone;
}

/// Prints a result: with --json the object of `result`, for people what `view` says of its members
/// and of `more`.
ExitStatus show(Tool& tool, std::string_view view, const auto& result, const auto&... more) {
  return tool.json() ? print_object(tool, result) : describe(tool, view, result, more...);
}

/// Lines of JSON, or what `view` says of all of them.
ExitStatus print_lines(Tool& tool, std::string_view view, std::span<const RawJson> lines);

/// The same of many: with --json an object a line; for people `shown` is `all` of them.
ExitStatus show_all(Tool& tool, std::string_view view, const auto& shape, const auto& all,
                    const auto& shown) {
  if (tool.json()) {
    print_objects(tool, shape, all);
  }
  return describe(tool, view, "all", shown);
}

/// The same where people see the same of them.
ExitStatus show_all(Tool& tool, std::string_view view, const auto& shape, const auto& all) {
  return show_all(tool, view, shape, all, shaped(shape, all));
}

/// Calls `work(each)`; what fails is reported, and the rest goes on. kFailed when anything did.
template <typename All, typename Work>
ExitStatus for_all(Tool& tool, const All& all, const Work& work) {
  ExitStatus status = ExitStatus::kDone;
  for (const auto& each : all) {
    if (const Status done = work(each); !done) {
      tool.report(done.error());
      status = ExitStatus::kFailed;
    }
  }
  return status;
}

}  // namespace bmad_mem::cli
