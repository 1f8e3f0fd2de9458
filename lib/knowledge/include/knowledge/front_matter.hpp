// front_matter.hpp - a text with a few named values in front of it, as summary.md has them.
//
//   ---
//   last_summarized_id: msg-01kaxx8v04q7m2s
//   mine: kept as it is
//   ---
//   # Summary
//
// One value a line. Lines that nobody set keep their bytes, and so does what follows. A text that
// does not begin so is all body.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

class FrontMatter {
 public:
  explicit FrontMatter(std::string_view text);

  /// The value of `key`, without the quotes and blanks around it; empty when there is none.
  [[nodiscard]] std::string value(std::string_view key) const;
  /// Replaces the line of `key`, or adds one at the end.
  void set(std::string_view key, std::string_view value);

  [[nodiscard]] const std::string& body() const { return body_; }
  void set_body(std::string body) { body_ = std::move(body); }

  [[nodiscard]] std::string to_text() const;

 private:
  std::vector<std::string> lines_;
  std::string body_;
};

}  // namespace bmad_mem
