// learn_rules.hpp - what a finished task teaches: of a success what the rules of the config say, of
// a failure the error.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/result.hpp"
#include "store/config.hpp"

namespace re2 {
class RE2;
}

namespace bmad_mem {

// A pattern that a user wrote, in the syntax of RE2: time linear in the text,
// whatever the pattern.
//
// It lives here because this room has RE2 in it; those above need no header of it.

/// Immutable. Threads: safe.
class TextPattern {
 public:
  /// Longest pattern accepted, in bytes: what people write has less than 200.
  static constexpr std::size_t kPatternSizeMax = 4096;

  /// Errors: E_SCHEMA_INVALID with what is wrong in the pattern; the caller adds whose it is.
  static Result<TextPattern> make(std::string_view pattern);

  TextPattern(TextPattern&&) noexcept;
  ~TextPattern();

  /// Whether it matches anywhere in `text`, any bytes. An empty pattern matches everything.
  [[nodiscard]] bool matches(std::string_view text) const;

 private:
  explicit TextPattern(std::unique_ptr<re2::RE2> regex);

  std::unique_ptr<re2::RE2> regex_;
};

/// Characters (code points) of an error that are kept: enough to know it again by.
inline constexpr std::size_t kErrorCharactersMax = 200;

/// The rules of a config, compiled. Immutable.
class LearnRules {
 public:
  /// Errors: E_SCHEMA_INVALID for a pattern that doesn't compile, a category that there is not, or
  /// an empty value, with the field: "memory_config.knowledge.learn_rules[2].match".
  static Result<LearnRules> make(std::span<const LearnRule> rules);

  /// What is to be remembered since `agent` has come to `output`, in the order of the rules.
  [[nodiscard]] std::vector<RememberParams> lessons(std::string_view agent,
                                                    std::string_view output) const;

 private:
  struct Rule {
    std::string agent;
    TextPattern match;
    RememberParams lesson;
  };
  std::vector<Rule> rules_;
};

/// What is to be remembered since `agent` has failed at `task`: an error_solution under the key
/// "AGENT: TASK" with "Failed with: " and the first kErrorCharactersMax characters of `error` on
/// one line. What is secret in `error` must be gone already: its front would not be known again.
RememberParams failure_lesson(std::string_view agent, std::string_view task,
                              std::string_view error);

}  // namespace bmad_mem
