// json_copy.hpp - a parsed JSON value as text again, and texts as an array and back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/json_writer.hpp"

namespace bmad_mem {

/// Whether write_json() gives the very same value back. Not for a number above std::int64_t, whose
/// digits a JsonValue does not hand out.
bool can_write_json(JsonValue value);
/// Writes `value`, null when it is absent: the same value, not the same bytes. What lies in more
/// than `depth_max` arrays and objects is left out; the parser bounds that anyway.
void write_json(JsonWriter& json, JsonValue value, std::size_t depth_max = 1024);
std::string json_of(JsonValue value);

/// The string of each element of the array `list`: "" for an element that is none.
std::vector<std::string> json_strings(JsonValue list);
/// Whether `list` is an array, and of strings only.
bool is_string_list(JsonValue list);

/// `texts` as an array of JSON.
template <typename Texts>
std::string list_json(const Texts& texts) {
  JsonWriter json;
  json.begin_array();
  for (const std::string_view text : texts) {
    json.string(text);
  }
  return json.end_array().take();
}

}  // namespace bmad_mem
