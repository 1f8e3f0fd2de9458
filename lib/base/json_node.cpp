#include "base/json_node.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "base/json_cursor.hpp"

namespace bmad_mem {

TextPosition position_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
  return {.line = 1 + static_cast<std::uint64_t>(std::ranges::count(before, '\n')),
          .column = 1 + before.size() - line_start};
}

Error placed_in(Error problem, std::string_view text) {
  const std::size_t offset = problem.column == 0 ? 0 : problem.column - 1;
  const TextPosition position = position_at(text, std::min(offset, text.size()));
  problem.line = position.line;
  problem.column = position.column;
  return problem;
}

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

JsonCursor at_path(std::string_view text, JsonPath path) {
  JsonCursor cursor(text);
  for (const std::size_t index : path) {
    skip_key(cursor);
    enter(cursor, index);
  }
  return cursor;
}

}  // namespace

std::size_t json_value_offset(std::string_view text, JsonPath path) {
  JsonCursor cursor = at_path(text, path);
  skip_key(cursor);
  return cursor.at();
}

std::size_t json_key_offset(std::string_view text, JsonPath path) {
  return at_path(text, path).at();
}

JsonNode JsonNode::member(std::size_t index, JsonValue value, std::string_view key) const {
  return child(index, value, fmt::format("{}{}{}", field_, field_.empty() ? "" : ".", key));
}

JsonNode JsonNode::element(std::size_t index, JsonValue value) const {
  return child(index, value, fmt::format("{}[{}]", field_, index));
}

Error JsonNode::refuse(std::string message) const {
  return refuse_at(json_value_offset(text_, path()), std::move(message));
}

Error JsonNode::refuse_key(std::string message) const {
  return refuse_at(json_key_offset(text_, path()), std::move(message));
}

Error JsonNode::refuse_kind(std::string_view wanted) const {
  return refuse(fmt::format("must be {}, not {}", wanted, json_kind_name(value_.kind())));
}

JsonNode JsonNode::child(std::size_t index, JsonValue value, std::string field) const {
  assert(depth_ < kDepthMax);
  JsonNode node(code_, text_, value);
  node.field_ = std::move(field);
  node.path_ = path_;
  node.path_[depth_] = index;
  node.depth_ = depth_ + 1;
  return node;
}

Error JsonNode::refuse_at(std::size_t offset, std::string message) const {
  return placed_in(
      {.code = code_, .message = std::move(message), .column = offset + 1, .field = field_}, text_);
}

}  // namespace bmad_mem
