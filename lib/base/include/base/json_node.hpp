// json_node.hpp - a value of a JSON text together with its name and place, for messages about it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// 1-based; 0 when unknown.
struct TextPosition {
  std::uint64_t line = 0;
  std::uint64_t column = 0;  ///< In bytes.

  bool operator==(const TextPosition&) const = default;
};

/// Where the byte at `offset` lies; at most text.size(), which is just behind the end.
TextPosition position_at(std::string_view text, std::size_t offset);

/// `problem`, whose column counts from the start of `text`, with a line and the column in it.
Error placed_in(Error problem, std::string_view text);

// Where in a JSON text a value stands, for messages; parsed values don't know.

/// From the outermost value inwards: the how-manieth member or element, 0-based.
using JsonPath = std::span<const std::size_t>;

/// Offset of the value at `path` in `text`, which is valid JSON and has such a value.
std::size_t json_value_offset(std::string_view text, JsonPath path);

/// Offset of the key of the member at `path`, which ends in a member of an object.
std::size_t json_key_offset(std::string_view text, JsonPath path);

/// Views into the text and the parsed value, which it must not outlive.
class JsonNode {
 public:
  /// How deep members and elements can lie.
  static constexpr std::size_t kDepthMax = 3;

  /// `code`: of all that is refused.
  JsonNode(ErrorCode code, std::string_view text, JsonValue root)
      : code_(code), text_(text), value_(root) {}

  [[nodiscard]] JsonValue value() const { return value_; }

  /// The member that is number `index` of this object; `key` as it is to be shown. At most
  /// kDepthMax deep; so for element().
  [[nodiscard]] JsonNode member(std::size_t index, JsonValue value, std::string_view key) const;
  [[nodiscard]] JsonNode element(std::size_t index, JsonValue value) const;

  /// An error about the value.
  [[nodiscard]] Error refuse(std::string message) const;
  /// An error about the key.
  [[nodiscard]] Error refuse_key(std::string message) const;
  /// An error about a value that should be `wanted`, such as "a string".
  [[nodiscard]] Error refuse_kind(std::string_view wanted) const;

 private:
  [[nodiscard]] JsonPath path() const { return {path_.data(), depth_}; }
  [[nodiscard]] JsonNode child(std::size_t index, JsonValue value, std::string field) const;
  [[nodiscard]] Error refuse_at(std::size_t offset, std::string message) const;

  ErrorCode code_;
  std::string_view text_;
  JsonValue value_;
  std::string field_;  // "time_range.start", "types[1]"; empty for the outermost value.
  std::array<std::size_t, kDepthMax> path_{};
  std::size_t depth_ = 0;
};

}  // namespace bmad_mem
