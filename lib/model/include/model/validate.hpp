// validate.hpp - whether a parsed JSON value is an entry of a type.
//
// Runs once for each line of every scan, so a good entry costs one walk over its members, no
// allocation and about 10 ns a field. Only for a bad one the reason is put together.
#pragma once

#include <optional>
#include <string>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"

namespace bmad_mem {

/// What is wrong with an entry, and where.
struct FieldProblem {
  /// Path of the field: "severity", "alternatives_considered[1].option"; empty when `value` is no
  /// object at all.
  std::string field;
  /// Says what is allowed and guesses what was meant; reads well behind "field: ".
  std::string message;
};

/// Nothing when `value` is a valid entry of this type; otherwise its first problem: wrong fields in
/// the order of the text, then missing ones. Threads: safe.
std::optional<FieldProblem> check_entry(EntryType type, JsonValue value);

}  // namespace bmad_mem
