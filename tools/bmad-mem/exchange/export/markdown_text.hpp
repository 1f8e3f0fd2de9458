// markdown_text.hpp - texts of others inside a Markdown document that they must not break.
//
// What an entry says often is Markdown itself: headings, fences, HTML. It stands in a quote, which
// no block can leave, and what would still act there (headings, HTML, images, link definitions) is
// escaped. Fenced code keeps its text: its fence is made anew, longer than any in it.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// `text` as a quote: each line behind `front` and "> ". Ends in '\n'.
std::string markdown_quote(std::string_view text, std::string_view front = {});

/// `text` on one line, for headings, lists and tables: nothing in it is Markdown any more.
std::string markdown_inline(std::string_view text);

/// `text` on one line as code, "`text`".
std::string markdown_code(std::string_view text);

/// `text` in a fence that it cannot close. Ends in '\n'.
std::string markdown_fence(std::string_view text, std::string_view language,
                           std::string_view front = {});

}  // namespace bmad_mem::cli
