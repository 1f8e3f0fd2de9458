#include "json_position.hpp"

#include <algorithm>
#include <string>

namespace bmad_mem {
namespace {

/// Moves through a JSON text that is known to be valid; at the end of the text it stands still.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) { skip_blanks(); }

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

/// Moves `cursor`, which stands at a value, to the key `key` in it; false when there is none.
bool enter(Cursor& cursor, std::string_view key) {
  if (cursor.peek() != '{') {
    return false;
  }
  cursor.step();
  while (cursor.peek() == '"') {
    Cursor behind_key = cursor;
    if (behind_key.string() == key) {
      return true;
    }
    cursor = behind_key;
    cursor.step();  // The ':'.
    cursor.value();
    if (cursor.peek() == ',') {
      cursor.step();
    }
  }
  return false;
}

}  // namespace

TextPosition position_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
  return {.line = 1 + static_cast<std::uint64_t>(std::ranges::count(before, '\n')),
          .column = 1 + before.size() - line_start};
}

TextPosition position_of_member(std::string_view text, std::string_view field) {
  TextPosition deepest;
  Cursor cursor(text);
  while (!field.empty()) {
    const std::size_t dot = std::min(field.find('.'), field.size());
    if (!enter(cursor, field.substr(0, dot))) {
      return deepest;
    }
    deepest = position_at(text, cursor.at());
    cursor.string();
    cursor.step();  // The ':'.
    field.remove_prefix(std::min(dot + 1, field.size()));
  }
  return deepest;
}

Error problem_in_file(Error problem, std::string_view text, std::string_view display_path) {
  const std::size_t offset = problem.column == 0 ? 0 : problem.column - 1;
  const TextPosition position = position_at(text, std::min(offset, text.size()));
  problem.line = position.line;
  problem.column = position.column;
  problem.path = std::string(display_path);
  return problem;
}

}  // namespace bmad_mem
