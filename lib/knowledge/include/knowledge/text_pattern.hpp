// text_pattern.hpp - a pattern that a user wrote, in the syntax of RE2: time linear in the text,
// whatever the pattern.
//
// It lives here because this room has RE2 in it; those above need no header of it.
#pragma once

#include <memory>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace re2 {
class RE2;
}

namespace bmad_mem {

/// Immutable. Threads: safe.
class TextPattern {
 public:
  /// Longest pattern accepted, in bytes: what people write has less than 200.
  static constexpr std::size_t kPatternSizeMax = 4096;

  /// Errors: E_SCHEMA_INVALID with what is wrong in the pattern; the caller adds whose it is.
  static Result<TextPattern> make(std::string_view pattern);

  TextPattern(TextPattern&&) noexcept;
  TextPattern& operator=(TextPattern&&) noexcept;
  ~TextPattern();

  /// Whether it matches anywhere in `text`, any bytes. An empty pattern matches everything.
  [[nodiscard]] bool matches(std::string_view text) const;

 private:
  explicit TextPattern(std::unique_ptr<re2::RE2> regex);

  std::unique_ptr<re2::RE2> regex_;
};

}  // namespace bmad_mem
