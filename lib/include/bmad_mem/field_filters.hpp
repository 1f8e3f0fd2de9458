// field_filters.hpp - filters on the fields of entries, as people and programs write them.
//
//   status=open   severity!=low   metadata.ticket=PAY-1          parse_field_filter()
//   {"status": "open", "severity": ["high", "critical"], "-category": "style"}
//
// Of one field any of several values will do, different fields must all pass. Upper and lower case
// are the same in values, not in names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// The fields there are: "status", "severity", …; and besides them "metadata.NAME" and
/// "context.NAME".
std::span<const std::string_view> filter_field_names();

/// "status, severity, …, metadata.NAME and context.NAME", for messages and help.
std::string known_filter_fields();

/// Reads FIELD=VALUE or FIELD:VALUE; FIELD!=VALUE or -FIELD:VALUE for what must not be there.
/// Errors: E_INVALID_QUERY, naming the fields there are, or the values that a field takes.
Result<FieldFilter> parse_field_filter(std::string_view text);

/// Adds what `object` asks for to `filters`: each member is a field, with a '-' in front of its
/// name for values that must not be there, and its value a string, a number, a boolean or an array
/// of these. Errors: as parse_field_filter().
Status read_field_filters(JsonValue object, std::vector<FieldFilter>& filters);

}  // namespace bmad_mem
