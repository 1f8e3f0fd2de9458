#include "json_position.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/json_cursor.hpp"

namespace bmad_mem {
namespace {

/// Moves `cursor`, which stands at a value, to the key `key` in it; false when there is none.
bool enter(JsonCursor& cursor, std::string_view key) {
  if (cursor.peek() != '{') {
    return false;
  }
  cursor.step();
  while (cursor.peek() == '"') {
    JsonCursor behind_key = cursor;
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

TextPosition position_of_member(std::string_view text, std::string_view field) {
  TextPosition deepest;
  JsonCursor cursor(text);
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
  problem.path = std::string(display_path);
  return placed_in(std::move(problem), text);
}

}  // namespace bmad_mem
