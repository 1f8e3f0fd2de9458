// text_edits.hpp - what the memory tool does to texts, and how it shows them.
//
// A text is what stands between its line ends: "a\nb\n" has the three lines "a", "b" and "".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

/// Most lines of a file that can be shown: numbers have six digits.
inline constexpr std::size_t kViewLinesMax = 999'999;

/// "     1\tone": the lines of `text` from `first` to `last`, both 1-based and inclusive, joined by
/// line ends. What lies beyond the text is left out.
std::string numbered_lines(std::string_view text, std::uint64_t first, std::uint64_t last);

/// How many lines `text` has; at least 1.
std::uint64_t line_count(std::string_view text);

/// What a command must not or cannot do: E_INVALID_FORMAT with the sentence that answers it.
Error refused(std::string message);

struct Replacement {
  std::string text;     ///< The whole text, changed.
  std::string snippet;  ///< The line of the change, with two lines before and after it.
};

/// Replaces the one place where `old_text` stands by `new_text`. Places on one line count as one,
/// and the first of them is meant, as in the reference implementation. `path` is for messages.
/// Errors: E_INVALID_FORMAT with the documented sentence when there is none, or several.
Result<Replacement> replace_once(std::string_view text, std::string_view old_text,
                                 std::string_view new_text, std::string_view path);

/// Puts `inserted` behind line `line` (0: in front of all). One line end at its end is dropped.
/// Errors: E_INVALID_FORMAT with the documented sentence when there is no such line.
Result<std::string> insert_lines(std::string_view text, std::int64_t line,
                                 std::string_view inserted);

/// "0B", "24B", "1.5K", "4K", up to G: steps of 1024, one decimal unless it is a whole number.
std::string short_size(std::uint64_t bytes);

}  // namespace bmad_mem::cli
