// view_text.hpp - what results look like to people: the texts of views.toml, filled in.
//
//   results.toml ──> {"session_id":"s1","files":3} ──> --json, HTTP, MCP
//                                 │
//   views.toml ──> "{session_id}: {files|n file/files}" ──> s1: 3 files
//
// The head of views.toml says what a text may hold.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace bmad_mem::cli
