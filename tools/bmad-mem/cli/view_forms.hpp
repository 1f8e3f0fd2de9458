// view_forms.hpp - what becomes of a member of a result in a text: "3 files", a table, a bar.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {

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
