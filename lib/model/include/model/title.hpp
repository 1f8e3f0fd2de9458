// title.hpp - what a session is called, by rules: what its user asked for first, on one line.
//
//   "<system-reminder>…</system-reminder>\n## Fix the login. It fails when …\n\nHere is the log: …"
//    first_request: Fix the login. It fails when …
//    title:         Fix the login
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/word_list.hpp"

namespace bmad_mem {

inline constexpr std::size_t kTitleWidth = 80;     ///< Characters of a title that is derived.
inline constexpr std::size_t kRequestWidth = 200;  ///< Characters of a request on one line.

/// `text` on one line of at most `width_max` characters; what is longer ends at a word, with "…".
std::string title_line(std::string_view text, std::size_t width_max = kTitleWidth);

/// What a person asked for in `message`, on one line of at most kRequestWidth characters. Blocks
/// that clients put around a prompt (<system-reminder>, <private>, …), marks of Markdown and
/// pictures are left out. Empty when a client wrote it all.
std::string request_line(std::string_view message);

/// Words and phrases of a conversation that name nothing it could be about: "yes", "thanks".
const WordList& dialogue_words();

/// Whether a request_line() has words enough to call a session by: "continue" and "commit" don't.
bool says_something(std::string_view request);

/// The title for a request_line(): its first sentence where that says enough, else title_line().
std::string title_of_request(std::string_view request);

/// The first line of a summary.md that says something, as title_line(): no front matter, heading or
/// line of the template. Empty without one.
std::string summary_line(std::string_view summary);

}  // namespace bmad_mem
