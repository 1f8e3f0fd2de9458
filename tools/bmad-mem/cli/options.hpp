// options.hpp - from argv to the command and its arguments.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"

namespace bmad_mem::cli {

/// What stood on the command line behind the command's name, and the global options.
class Arguments {
 public:
  /// Whether option `name` (without dashes) was given.
  [[nodiscard]] bool has(std::string_view name) const { return !all(name).empty(); }
  /// The value of option `name`, the last one given; empty when it wasn't.
  [[nodiscard]] std::string_view value(std::string_view name) const;
  /// The value of option `name`, or nothing when it wasn't given.
  [[nodiscard]] std::optional<std::string_view> maybe(std::string_view name) const;
  /// Every value of option `name`, in the order given; for a flag one empty text each time.
  [[nodiscard]] std::span<const std::string> all(std::string_view name) const;

  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  /// The positional at `index`; empty when there are fewer.
  [[nodiscard]] std::string_view positional(std::size_t index) const;

 private:
  friend class ArgumentReader;
  std::vector<std::pair<std::string_view, std::vector<std::string>>> options_;
  std::vector<std::string> positionals_;
};

/// What the command line asks for.
struct CommandLine {
  const Command* command = nullptr;  ///< Null: no command was named.
  Arguments arguments;
  bool wants_help = false;  ///< `--help` or `-h` stood somewhere: don't run, explain.
  bool wants_version = false;
  /// Why the command line makes no sense, as a sentence with a guess what was meant; empty when it
  /// does. `command` and the global options are filled in as far as they were understood.
  std::string problem;
};

/// Reads argv, without the program's name. Options and positionals may be mixed; behind `--`
/// everything is a positional.
CommandLine read_command_line(std::span<const char* const> argv);

}  // namespace bmad_mem::cli
