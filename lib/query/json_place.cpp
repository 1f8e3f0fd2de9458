#include "json_place.hpp"

#include <algorithm>

namespace bmad_mem {
namespace {

/// Moves through a text that is known to be valid; stands still at its end.
class PlaceFinder {
 public:
  explicit PlaceFinder(std::string_view text) : text_(text) { skip_blanks(); }

  [[nodiscard]] std::size_t at() const { return at_; }

  /// From an object or array to its member or element number `index`: to the key, if it has one.
  void enter(std::size_t index) {
    step();
    for (; index > 0 && at_ < text_.size(); --index) {
      skip_key();
      skip_value();
      step();  // The ','.
    }
  }

  /// From a key to its value; from an element nowhere.
  void skip_key() {
    if (peek() != '"') {
      return;
    }
    const std::size_t start = at_;
    skip_string();
    if (peek() == ':') {
      step();
    } else {
      at_ = start;
    }
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  void step() {
    at_ = std::min(at_ + 1, text_.size());
    skip_blanks();
  }

  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      at_ += text_[at_] == '\\' ? 1U : 0U;
    }
    step();
  }

  /// To the ',' or the bracket behind the value.
  void skip_value() {
    for (std::size_t depth = 0; at_ < text_.size();) {
      const char c = peek();
      if (c == '"') {
        skip_string();
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

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t json_value_offset(std::string_view text, JsonPath path) {
  PlaceFinder finder(text);
  for (const std::size_t index : path) {
    finder.enter(index);
    finder.skip_key();
  }
  return finder.at();
}

std::size_t json_key_offset(std::string_view text, JsonPath path) {
  PlaceFinder finder(text);
  for (std::size_t i = 0; i < path.size(); ++i) {
    finder.enter(path[i]);
    if (i + 1 < path.size()) {
      finder.skip_key();
    }
  }
  return finder.at();
}

}  // namespace bmad_mem
