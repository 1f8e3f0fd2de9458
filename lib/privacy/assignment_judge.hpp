// assignment_judge.hpp - is what stands under this name a secret?
//
//   name ──► kind ──► none: the table of rules may still know it
//               └──► placeholder? ──► public by nature? ──► drawn or written? ──► verdict
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "assignments.hpp"

namespace bmad_mem {

/// How a value stands in the text: what else than a literal it could be.
enum class ValueForm : std::uint8_t {
  kQuoted,   ///< "…", an element of XML, the member of an object: a literal.
  kLiteral,  ///< Without quotes where none are needed: .env, YAML, options, addresses.
  kBare,     ///< Without quotes, where code may stand: a name or a call as well.
  kSaid,     ///< A sentence says what it is: "the password is …".
  kProse,    ///< The next word of a sentence: "password …".
};

/// No secret is looked for in longer values, in bytes.
inline constexpr std::size_t kValueSizeMax = 4096;

/// Judges `value`, which stands under `name` in that form.
std::optional<ValueVerdict> judge_value(std::string_view name, std::string_view value,
                                        ValueForm form);

/// Whether a rule of the table might know `value` by its name: a token with digits in it. Cheap.
bool may_have_rule(std::string_view value);

}  // namespace bmad_mem
