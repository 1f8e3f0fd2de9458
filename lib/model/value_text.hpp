// value_text.hpp - parsed values as text: for people, for search, for messages; and which
// known word somebody meant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"

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

// Which known word somebody meant.

/// How many edits a slip of the pen makes of `known` at most: 2, and at most one for every three
/// characters, since among words of three letters nearly all are near.
inline std::size_t slip_max(std::string_view word, std::string_view known) {
  return std::min<std::size_t>(2, std::max(word.size(), known.size()) / 3);
}

/// Whether `word` may be a slip of the pen for `known`.
inline bool is_misspelling(std::string_view word, std::string_view known) {
  return edit_distance(word, known, slip_max(word, known)) <= slip_max(word, known);
}

/// The one of `words` nearest to `word` that is_misspelling() takes; empty when there is none.
template <typename Words>
std::string_view nearest_word(std::string_view word, const Words& words) {
  return nearest_of(word, words, [&](auto known) { return slip_max(word, known); });
}

}  // namespace bmad_mem
