// value_text.hpp - parsed values as text: for people, for search, for messages.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"

namespace bmad_mem {

/// Appends `value` as people like to see it: a string as it is, anything else as compact JSON.
void append_value_shown(JsonValue value, std::string& out);

/// Appends every string in `value`, however deep, with `between` between any two. With
/// `everything`, numbers and the keys of objects as well.
void append_value_words(JsonValue value, bool everything, char between, std::string& out);

/// The start of `value` as JSON, in quotes if it is a string, for a message about it.
std::string value_excerpt(JsonValue value);

/// `text` on one line: each run of blanks, line breaks and control characters becomes one blank,
/// and what turns the writing direction around is left out. At most `width_max` code points, the
/// last of them "…" when there was more.
std::string one_line(std::string_view text, std::size_t width_max);

}  // namespace bmad_mem
