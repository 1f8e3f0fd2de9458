// json_parser.hpp - JSON text to values, strictly: what we would not write, we do not read.
//
// Accepted: RFC 8259 in UTF-8, nested at most 64 deep. Refused besides broken text: a byte order
// mark, a key twice in one object, NUL in a string (raw or as \u0000), integers beyond 64 bits and
// numbers beyond a double (2^64, 1e400), because each would come back as something else.
//
// Two speeds: simdjson decides whether a text is good. Only when it is not, a second, slow parse
// (nlohmann's SAX) finds out where and why.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Deepest nesting accepted: an object in an object is 2 deep.
inline constexpr std::size_t kJsonDepthMax = 64;

/// How many readable bytes must follow a text given to JsonParser::try_parse_padded.
inline constexpr std::size_t kJsonPadding = 64;

/// Reuses its buffers from text to text. Threads: one parser a thread.
class JsonParser {
 public:
  JsonParser();
  JsonParser(JsonParser&&) noexcept;
  JsonParser& operator=(JsonParser&&) noexcept;
  ~JsonParser();

  /// The value of `text`, valid until the next call; nothing when it is refused (ask
  /// json_problem() why). kJsonPadding bytes after the text must be readable; any content.
  std::optional<JsonValue> try_parse_padded(std::string_view text);

  /// As try_parse_padded for a text without padding, which it copies.
  /// Errors: E_INVALID_FORMAT with column and field, see json_problem().
  Result<JsonValue> parse(std::string_view text);

 private:
  struct Impl;  // Keeps simdjson out of this header.
  std::unique_ptr<Impl> impl_;
};

/// A text and its value, valid as long as it lives: for who parses one text alone.
class ParsedJson {
 public:
  explicit ParsedJson(std::string_view text) : value_(parser_.parse(text)) {}

  /// False when the text is refused: error() says why, and there is no value.
  explicit operator bool() const { return value_.has_value(); }
  const JsonValue& operator*() const { return *value_; }
  const JsonValue* operator->() const { return &*value_; }
  /// The member of the object; absent when there is none, and when the text is refused.
  JsonValue operator[](std::string_view key) const { return value_ ? (*value_)[key] : JsonValue(); }
  /// As JsonParser::parse().
  [[nodiscard]] const Error& error() const { return value_.error(); }

 private:
  JsonParser parser_;
  Result<JsonValue> value_;
};

/// `text` with its value. Errors: as JsonParser::parse().
Result<ParsedJson> parse_json(std::string_view text);

/// Why try_parse_padded refuses `text`: E_INVALID_FORMAT with `column` (1-based byte), `field`
/// (such as "alternatives_considered[1].option") and a sentence. Slow.
Error json_problem(std::string_view text);

/// Whether `text` is JSON as RFC 8259 has it, however deep: it can be and yet be refused. Slow.
bool is_well_formed_json(std::string_view text);

}  // namespace bmad_mem
