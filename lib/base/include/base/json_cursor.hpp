// json_cursor.hpp - a walk over the text of a JSON value, for messages: parsed values don't know
// where they stood.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bmad_mem {

/// Moves through a JSON text that is known to be valid; at the end of the text it stands still.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) { skip_blanks(); }

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  /// Steps over one character and the blanks behind it.
  void step() {
    at_ = std::min(at_ + 1, text_.size());
    skip_blanks();
  }

  /// Steps over a string and the blanks behind it; returns what stood between the quotes.
  std::string_view string() {
    const std::size_t begin = at_ + 1;
    std::size_t end = begin;
    while (end < text_.size() && text_[end] != '"') {
      end += text_[end] == '\\' ? 2U : 1U;
    }
    end = std::min(end, text_.size());
    at_ = end;
    step();
    return text_.substr(begin, end - begin);
  }

  /// Steps over one value, up to the ',' or the bracket behind it.
  void value() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '"') {
        string();
        continue;
      }
      const bool closes = c == '}' || c == ']';
      if (depth == 0 && (closes || c == ',')) {
        return;
      }
      depth += c == '{' || c == '[' ? 1U : 0U;
      depth -= closes ? 1U : 0U;
      step();
    }
  }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// How many texts the parsers of this thread have read. A test counts: an entry is parsed once.
std::uint64_t json_texts_read();

}  // namespace bmad_mem
