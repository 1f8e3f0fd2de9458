// json_copy.hpp - a parsed JSON value as text again.
#pragma once

#include <string>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::cli {

/// Whether write_json() gives the very same value back. Not for a number above std::int64_t, whose
/// digits a JsonValue does not hand out.
bool can_write_json(JsonValue value);
/// Writes `value`, which must be present: the same value, not the same bytes. Recurses as deep as
/// the value is nested, which the parser bounds.
void write_json(JsonWriter& json, JsonValue value);
std::string json_of(JsonValue value);

}  // namespace bmad_mem::cli
