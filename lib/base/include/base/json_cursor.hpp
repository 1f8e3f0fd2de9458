// json_cursor.hpp - a walk over the text of a JSON value, for messages: parsed values don't know
// where they stood.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem {

// A value of a JSON text together with its name and place, for messages about it.

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
    assert(peek() == '"');
    const std::size_t begin = at_ + 1;
    std::size_t end = std::min(text_.find('"', begin), text_.size());
    while (end < text_.size() && is_escaped(begin, end)) {
      end = std::min(text_.find('"', end + 1), text_.size());
    }
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
  void skip_blanks() {
    while (at_ < text_.size() && is_space(text_[at_])) {
      ++at_;
    }
  }

  /// Whether the quote at `end` has an odd number of backslashes before it in the string.
  [[nodiscard]] bool is_escaped(std::size_t begin, std::size_t end) const {
    std::size_t slashes = end;
    while (slashes > begin && text_[slashes - 1] == '\\') {
      --slashes;
    }
    return (end - slashes) % 2 == 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// How many texts the parsers of this thread have read. A test counts: an entry is parsed once.
std::uint64_t json_texts_read();

// From a byte or a field of a JSON file to the line and column people look for.

/// Where the key of member `field` ("memory_config.storage.format") stands in `text`, a valid JSON
/// object. When there is no such member: where the deepest one above it stands; {0, 0} if none.
/// A key that is written with escapes is not found.
TextPosition position_of_member(std::string_view text, std::string_view field);

/// `problem`, as json_problem() gives it for `text`, with its column turned into line and column.
Error problem_in_file(Error problem, std::string_view text, std::string_view display_path);

}  // namespace bmad_mem
