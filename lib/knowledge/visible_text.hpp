// visible_text.hpp - what a person would see of a text, and nothing that is only there for a
// terminal or a model.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bmad_mem {

/// `text` as valid UTF-8 without ANSI escape sequences, control characters, characters that turn
/// the direction of writing, and characters that show nothing (zero-width ones, tags, variation
/// selectors, fillers). Every kind of line break becomes '\n', tabs become spaces.
std::string visible_text(std::string_view text);

/// The same on one line: each run of blanks is one space, none at the ends.
std::string visible_line(std::string_view text);

/// `text`, valid UTF-8, in at most `size_max` bytes: between two words if that loses little, with
/// "…" where it was cut. Empty when not even that fits.
std::string cut_text(std::string_view text, std::size_t size_max);

}  // namespace bmad_mem
