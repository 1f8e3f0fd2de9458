#include "cli/confirmation.hpp"

#include <unistd.h>

#include <array>
#include <string>

#include <fmt/core.h>

namespace bmad_mem::cli {

bool is_asked(const Tool& tool) {
  return !tool.json() && !tool.args().has("yes") && ::isatty(STDIN_FILENO) == 1 &&
         ::isatty(STDERR_FILENO) == 1;
}

bool is_confirmed(Tool& tool, std::string_view question) {
  if (!is_asked(tool)) {
    return true;
  }
  static_cast<void>(tool.out().flush());  // What is asked about stands above the question.
  Output ask(STDERR_FILENO);
  ask.print("{} [y/N] ", question);
  static_cast<void>(ask.flush());
  std::array<char, 256> answer{};
  const ssize_t size = ::read(STDIN_FILENO, answer.data(), answer.size());
  const std::string_view text(answer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::string_view word = text.substr(0, text.find('\n'));
  if (word == "y" || word == "Y" || word == "yes") {
    return true;
  }
  tool.note("nothing was changed");
  return false;
}

}  // namespace bmad_mem::cli
