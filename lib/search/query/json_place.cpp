#include "json_place.hpp"

#include "base/json_cursor.hpp"

namespace bmad_mem {
namespace {

/// From a key to its value; from an element nowhere.
void skip_key(JsonCursor& cursor) {
  if (cursor.peek() != '"') {
    return;
  }
  JsonCursor behind = cursor;
  behind.string();
  if (behind.peek() == ':') {
    behind.step();
    cursor = behind;
  }
}

/// From an object or array to its member or element number `index`: to the key, if it has one.
void enter(JsonCursor& cursor, std::size_t index) {
  cursor.step();
  for (; index > 0 && cursor.peek() != '\0'; --index) {
    skip_key(cursor);
    cursor.value();
    cursor.step();  // The ','.
  }
}

}  // namespace

std::size_t json_value_offset(std::string_view text, JsonPath path) {
  JsonCursor cursor(text);
  for (const std::size_t index : path) {
    enter(cursor, index);
    skip_key(cursor);
  }
  return cursor.at();
}

std::size_t json_key_offset(std::string_view text, JsonPath path) {
  JsonCursor cursor(text);
  for (std::size_t i = 0; i < path.size(); ++i) {
    enter(cursor, path[i]);
    if (i + 1 < path.size()) {
      skip_key(cursor);
    }
  }
  return cursor.at();
}

}  // namespace bmad_mem
