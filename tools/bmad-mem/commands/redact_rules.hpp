// redact_rules.hpp - the rules of `redact`: listed, tried, and what they leave as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/privacy.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// Counts lines and columns, both from 1, at places of a text that only grow.
class TextPosition {
 public:
  explicit TextPosition(std::string_view text) : text_(text) {}

  void move_to(std::size_t at);
  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] std::uint64_t column() const { return at_ - line_begin_ + 1; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint64_t line_ = 1;
};

struct Found {
  std::uint64_t secrets = 0;
  std::uint64_t near = 0;  ///< What would stay, and make its entry a sensitive one.
};

/// Reports what is found in `text`: where and what, never the secret itself. Adds to `found`.
void report_places(Tool& tool, const std::string& name, std::string_view text,
                   const std::vector<SecretPlace>& places, Found& found);

/// The text of the file `name`; of stdin for "-".
Result<std::string> read_named(const std::string& name);
/// The rules of the memory that is here; the usual ones where there is none. What is wrong with
/// them is said.
Result<SecretScanner> scanner_here(Tool& tool);

Result<ExitStatus> list_rules(Tool& tool);
Result<ExitStatus> try_rules(Tool& tool);
Result<ExitStatus> allow_findings(Tool& tool);
Result<ExitStatus> list_allowed(Tool& tool);
Result<ExitStatus> disallow(Tool& tool);

}  // namespace bmad_mem::cli
