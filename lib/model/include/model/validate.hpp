// validate.hpp - whether a parsed JSON value is an entry of a type; and how it becomes one.
//
// Runs once for each line of every scan, so a good entry costs one walk over its members, no
// allocation and about 10 ns a field. Only for a bad one the reason is put together.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/result.hpp"

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

// From what a caller wrote to the line that goes into the log.
//
//   in    { "decision": "Use PostgreSQL", "ticket": 42, "made_by": "architect" }
//   out   {"id":"dec-…","timestamp":"…","made_by":"architect","decision":"Use PostgreSQL",
//          "ticket":42,"decay_factor":1.0}                              (one line, no '\n')
//
// The known fields come in the order of the specification, so that people find them; unknown ones
// follow in the order they came in; `decay_factor` is last. No value changes a byte: 1.00 stays
// 1.00 and an escape stays an escape. Only blanks between tokens go.

/// An entry that is ready to be appended.
struct CompleteEntry {
  std::string line;  ///< One JSON object, compact, without '\n', at most kEntrySizeMax bytes.
  std::string id;
  bool has_own_id = false;  ///< The text had it.
};

/// Reads `text`, one JSON object, fills in what is missing (`id` from `ids`, `timestamp` as `now`,
/// `decay_factor` 1.0, a finding's `status` "open") and validates it. A member `type` that names
/// this type is dropped, since the log says it.
/// Errors: E_INVALID_FORMAT: `text` is not JSON, with column and field. E_SCHEMA_INVALID: a field
/// is missing or wrong, or `type` names another type, with the field. E_SIZE_LIMIT: `text` or the
/// line is larger than kEntrySizeMax.
Result<CompleteEntry> complete_entry(EntryType type, JsonParser& parser, std::string_view text,
                                     IdGenerator& ids, Timestamp now);

/// The same for a text that is parsed already: `entry` is its value.
Result<CompleteEntry> complete_entry(EntryType type, JsonValue entry, std::string_view text,
                                     IdGenerator& ids, Timestamp now);

/// `line`, an entry, with `changes`, an object whose JSON is `text`: a member replaces the one of
/// its name, null takes it away. What is not named keeps its bytes. Sets updated_at, unless nothing
/// but marks changes, or the changes have one. Errors: E_INVALID_QUERY for no member, or one that
/// can't change.
Result<std::string> changed_line(std::string_view line, JsonValue changes, std::string_view text,
                                 Timestamp now);

}  // namespace bmad_mem
