// placeholder.hpp - what stands in the place of a secret: "[REDACTED:rule]", or as configured.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "privacy/detection.hpp"
#include "privacy/redactor.hpp"

namespace bmad_mem {

class Placeholder {
 public:
  /// `pattern` is the setting "replacement": "{rule}" in it becomes the id of the rule.
  /// Errors: E_SCHEMA_INVALID when there is no character besides.
  static Result<Placeholder> make(const std::string& pattern, bool linkable);

  [[nodiscard]] std::string text(std::string_view rule, std::string_view secret,
                                 const RedactionScope& scope) const;

  /// The places in `text` that are placeholders already: ascending.
  [[nodiscard]] Detections find(std::string_view text) const;

  /// The rule that `placeholder`, one that find() found, names.
  [[nodiscard]] std::string_view rule_in(std::string_view placeholder) const;

 private:
  std::string before_;  // What stands before the rule.
  std::string after_;
  bool names_rule_ = false;
  bool linkable_ = false;
};

/// A hash of `secret` that only who has the key can compute: 16 hexadecimal digits.
std::string keyed_hash(std::string_view secret, const RedactionScope& scope);

}  // namespace bmad_mem
