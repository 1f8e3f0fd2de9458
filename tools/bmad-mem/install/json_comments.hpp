// json_comments.hpp - reading the settings of programs that allow more than JSON does: comments
// (`//` and `/* */`), a comma behind the last element, a byte order mark in front.
//
//   {                         {
//     // mine                                     the same length, so a place in one is
//     "a": 1, /* b */           "a": 1            the same place in the other
//   }                         }
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// `text` with blanks where comments and the mark stand; line breaks stay. A comment that doesn't
/// end is left as it is, so that a parser complains about its place.
std::string without_comments(std::string_view text);

/// The same without commas behind a last element. `bare` is what without_comments() returned.
std::string without_last_commas(std::string bare);

}  // namespace bmad_mem::cli
