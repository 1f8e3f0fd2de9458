// token_rules.hpp - finds the secrets of the table: tokens by their keywords, assigned ones by
// name.
//
//   text ── 3 bytes at each place ──► might a keyword begin here? ── rarely ──► its rules' patterns
//
// Patterns are compiled when their keyword is first seen: few processes ever need more than three.
#pragma once

#include <string_view>

#include "privacy/detection.hpp"
#include "privacy/secret_rule.hpp"

namespace bmad_mem {

/// Appends the tokens in `text`. Time is linear in its size, whatever it is. Thread-safe.
void find_tokens(std::string_view text, Detections& out);

/// The rule of kind kAssigned whose keyword stands in `name` and whose pattern matches the whole
/// `value`; nullptr when there is none. Thread-safe.
const SecretRule* find_assigned_rule(std::string_view name, std::string_view value);

}  // namespace bmad_mem
