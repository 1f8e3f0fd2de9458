// view_text.hpp - what results look like to people: the texts of views.toml, filled in.
//
//   results.toml ──> {"session_id":"s1","files":3} ──> --json, HTTP, MCP
//                                 │
//   views.toml ──> "{session_id}: {files|n file/files}" ──> s1: 3 files
//
// The head of views.toml says what a text may hold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {

/// views.toml as JSON: a text by its name.
std::string_view views_json();

/// The text at `path` in views.toml: "man", "completion.bash".
std::string_view view_named(std::string_view path);

/// What a view makes of a result.
struct ViewText {
  std::string text;                     ///< Whole lines.
  std::vector<std::string> notes = {};  ///< Sentences for stderr.
};

/// What `view` makes of `object`, JSON. `width`: that of the terminal, 0 for none.
ViewText fill_view(std::string_view view, std::string_view object, const Style& style,
                   std::size_t width);
/// The same of the view with this name.
ViewText view_text(std::string_view name, std::string_view object, const Style& style,
                   std::size_t width);
/// Its text for programs, without a newline at its end.
std::string view_line(std::string_view name, std::string_view object);

// What becomes of a member of a result in a text: "3 files", a table, a bar.

/// The text in front of the first `mark`; takes both off `rest`.
std::string_view taken(std::string_view& rest, char mark);

/// A number; of a list or an object how many it has.
double number_of(JsonValue value);

/// A text on one line, a number, or those of a list with commas between them.
std::string plain_text(JsonValue value);

/// What a form is made from: a value, and its text so far.
struct Formed {
  JsonValue value;
  std::string text;
  std::string_view argument;
  const Style& style;
  std::size_t width;

  [[nodiscard]] std::uint64_t count() const {
    return static_cast<std::uint64_t>(std::max(0.0, number_of(value)));
  }
  [[nodiscard]] std::size_t size() const { return number_in<std::size_t>(argument).value_or(0); }
};

/// What form `name` makes of it: the head of views.toml lists them.
std::string formed_text(std::string_view name, const Formed& it);

}  // namespace bmad_mem::cli
