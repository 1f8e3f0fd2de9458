// export_text.hpp - texts and values of entries inside documents that they must not break.
//
// Markdown: what an entry says often is Markdown itself: headings, fences, HTML. It stands in a
// quote, which no block can leave, and what would still act there (headings, HTML, images, link
// definitions) is escaped. Fenced code keeps its text: its fence is made anew, longer than any in
// it.
//
// YAML: 1.2 in block style, so that readers of YAML 1.1 take the values for the same: "yes", "1:30"
// and times are quoted.
//
//   id: dec-1
//   tags:
//     - db
//   rationale: |-
//     First line
//     second line
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"

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

/// `text` as a scalar on one line: plain where that can mean nothing else, else in double quotes.
std::string yaml_scalar(std::string_view text);

/// Appends the members of `object`, a line or more each, indented by `indent` blanks; the first one
/// without the blanks. `raw` is the JSON text that `object` was parsed from: numbers keep their
/// form. Appends "{}\n" when there are none.
void append_yaml_members(std::string& out, JsonValue object, std::string_view raw,
                         std::size_t indent);

}  // namespace bmad_mem::cli
