#include "json_node.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/json_cursor.hpp"
#include "query_scanner.hpp"

namespace bmad_mem {

Error placed_in_json(Error error, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  error.column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
  if (text.find('\n') != std::string_view::npos) {
    error.line = 1 + static_cast<std::uint64_t>(std::ranges::count(before, '\n'));
  }
  return error;
}

JsonNode JsonNode::member(std::size_t index, const JsonMember& member) const {
  const std::string key = quoted_part(member.key);
  return child(index, member.value, field_.empty() ? key : fmt::format("{}.{}", field_, key));
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
  JsonNode node(text_, value);
  node.field_ = std::move(field);
  node.path_ = path_;
  node.path_[depth_] = index;
  node.depth_ = depth_ + 1;
  return node;
}

Error JsonNode::refuse_at(std::size_t offset, std::string message) const {
  Error error{.code = ErrorCode::E_INVALID_QUERY, .message = std::move(message), .field = field_};
  return placed_in_json(std::move(error), text_, offset);
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
