// options.hpp - from argv to the command and its arguments.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "cli/command.hpp"
#include "cli/text.hpp"

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
  [[nodiscard]] const std::vector<std::string>& all(std::string_view name) const;

  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  /// The values of option `name`, which was given.
  [[nodiscard]] std::vector<std::string>& values_of(std::string_view name);
  [[nodiscard]] std::string& positional_at(std::size_t index) { return positionals_.at(index); }
  /// The positional at `index`; empty when there are fewer.
  [[nodiscard]] std::string_view positional(std::size_t index) const;

 private:
  friend class ArgumentReader;
  std::vector<std::pair<std::string_view, std::vector<std::string>>> options_;
  std::vector<std::string> positionals_;
};

/// E_INVALID_QUERY about option `name`; the sentence is a format of fmt for `values`.
template <typename... Values>
Error bad_value(std::string_view name, fmt::format_string<Values...> sentence, Values&&... values) {
  return invalid_query(name, fmt::format(sentence, std::forward<Values>(values)...));
}

/// The number behind option `name`; `fallback` without it. Errors: E_INVALID_QUERY for what is no
/// number from `min` to `max`: "'x' is not WHAT".
template <typename Number>
Result<Number> read_number(const Arguments& args, std::string_view name, Number fallback,
                           std::string_view what, Number min = 0,
                           Number max = std::numeric_limits<Number>::max()) {
  const std::optional<std::string_view> text = args.maybe(name);
  if (!text) {
    return fallback;
  }
  std::optional<Number> number;
  if constexpr (std::is_floating_point_v<Number>) {
    number = real_in(*text);
  } else {
    number = number_in<Number>(*text);
  }
  if (!number || !(*number >= min && *number <= max)) {
    return bad_value(name, "'{}' is not {}", printable(*text), what);
  }
  return *number;
}

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

/// Reads the words of argv, without the program's name. Options and positionals may be mixed;
/// behind `--` everything is a positional.
CommandLine read_command_line(std::vector<std::string> words);

}  // namespace bmad_mem::cli
