// json.hpp - a parsed JSON text, looked at in place.
//
// A JsonValue is a position on simdjson's tape (its doc/tape.md): one 64-bit word a token, the kind
// in the top 8 bits, a payload in the rest.
//
//   {"id":"msg-1","n":[1,2.5]}     word 1 '{' payload: index past the matching '}'
//                                  word 2 '"' payload: where the key lies in the string buffer,
//                                             as a 32-bit length and the decoded bytes
//                                  ...    'l' 'u' 'd': the number is in the word that follows
//
// Reading through it allocates nothing and needs no simdjson header, which keeps builds short.
// Lifetime: until the JsonParser that made it parses again or goes away; so do the strings.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

enum class JsonKind : std::uint8_t {
  kAbsent,  ///< No value at all: a member that isn't there.
  kNull,
  kBoolean,
  kInteger,   ///< Fits std::int64_t.
  kUnsigned,  ///< Above std::int64_t, fits std::uint64_t.
  kReal,
  kString,
  kArray,
  kObject,
};

/// "null", "a boolean", "a number", "a string", "an array", "an object": for messages.
std::string_view json_kind_name(JsonKind kind);

class JsonValue;
struct JsonMember;
template <typename Item>
class JsonRange;
using JsonMembers = JsonRange<JsonMember>;
using JsonElements = JsonRange<JsonValue>;

/// One value of a parsed text, or none (kAbsent). Two words and an index; pass it by value.
class JsonValue {
 public:
  JsonValue() = default;
  /// For JsonParser: the value at word `index` of `tape`.
  JsonValue(const std::uint64_t* tape, const std::uint8_t* strings, std::size_t index)
      : tape_(tape), strings_(strings), index_(index) {}

  [[nodiscard]] JsonKind kind() const {
    switch (tag()) {
      case '\0':
        return JsonKind::kAbsent;
      case '"':
        return JsonKind::kString;
      case '{':
        return JsonKind::kObject;
      case '[':
        return JsonKind::kArray;
      case 'l':
        return JsonKind::kInteger;
      case 'u':
        return JsonKind::kUnsigned;
      case 'd':
        return JsonKind::kReal;
      case 't':
      case 'f':
        return JsonKind::kBoolean;
      default:
        return JsonKind::kNull;
    }
  }
  [[nodiscard]] bool present() const { return tape_ != nullptr; }
  [[nodiscard]] bool is_string() const { return tag() == '"'; }
  [[nodiscard]] bool is_object() const { return tag() == '{'; }
  [[nodiscard]] bool is_array() const { return tag() == '['; }
  [[nodiscard]] bool is_integer() const { return tag() == 'l' || tag() == 'u'; }
  [[nodiscard]] bool is_number() const { return is_integer() || tag() == 'd'; }

  /// The decoded text; empty unless is_string().
  [[nodiscard]] std::string_view string() const { return is_string() ? string_at(index_) : ""; }
  /// `fallback` unless this is a boolean.
  [[nodiscard]] bool boolean(bool fallback = false) const {
    return tag() == 't' || (tag() != 'f' && fallback);
  }
  /// The number as a double; `fallback` unless is_number().
  [[nodiscard]] double number(double fallback = 0) const;
  /// The number when it is a whole one within std::int64_t; `fallback` otherwise.
  [[nodiscard]] std::int64_t integer(std::int64_t fallback = 0) const {
    return tag() == 'l' ? static_cast<std::int64_t>(tape_[index_ + 1]) : fallback;
  }

  /// That number, or 0 for a negative one or anything else.
  [[nodiscard]] std::uint64_t natural() const {
    return integer() > 0 ? static_cast<std::uint64_t>(integer()) : 0;
  }

  /// The member `key`; absent unless this is an object that has it. Walks the members.
  [[nodiscard]] JsonValue operator[](std::string_view key) const;
  /// The members in the order of the text; none unless is_object().
  [[nodiscard]] JsonMembers members() const;
  /// The elements in order; none unless is_array().
  [[nodiscard]] JsonElements elements() const;

 private:
  template <typename Item>
  friend class JsonRange;

  static constexpr std::uint64_t kPayload = 0x00FFFFFFFFFFFFFFU;

  /// What simdjson's tape says of its kind; 0 for no value.
  [[nodiscard]] char tag() const {
    return tape_ == nullptr ? '\0' : static_cast<char>(tape_[index_] >> 56U);
  }
  [[nodiscard]] std::string_view string_at(std::size_t index) const {
    assert(tape_ != nullptr);
    const std::uint8_t* at = strings_ + (tape_[index] & kPayload);
    std::uint32_t size = 0;
    std::memcpy(&size, at, sizeof size);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the buffer holds UTF-8 bytes.
    return {reinterpret_cast<const char*>(at) + sizeof size, size};
  }
  /// The word that follows the object or array at `index`: its low 32 bits; the others are a count.
  [[nodiscard]] std::size_t next_of(std::size_t index) const {
    return static_cast<std::uint32_t>(tape_[index]);
  }
  /// The word after the value at `index`.
  [[nodiscard]] std::size_t after(std::size_t index) const {
    switch (static_cast<char>(tape_[index] >> 56U)) {
      case '{':
      case '[':
        return next_of(index);
      case 'l':
      case 'u':
      case 'd':
        return index + 2;
      default:
        return index + 1;
    }
  }

  const std::uint64_t* tape_ = nullptr;
  const std::uint8_t* strings_ = nullptr;
  std::size_t index_ = 0;
};

/// A member of an object: its decoded key and its value.
struct JsonMember {
  std::string_view key;
  JsonValue value;
};

/// What an object or an array holds, in the order of the text:
///   for (const JsonMember& member : value.members())
///   for (JsonValue element : value.elements())
template <typename Item>
class JsonRange {
 public:
  class Iterator {
   public:
    using value_type = Item;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(JsonValue holder, std::size_t index) : holder_(holder), index_(index) {}
    Item operator*() const {
      if constexpr (kHasKeys) {
        return {holder_.string_at(index_), {holder_.tape_, holder_.strings_, index_ + 1}};
      } else {
        return {holder_.tape_, holder_.strings_, index_};
      }
    }
    Iterator& operator++() {
      index_ = holder_.after(index_ + (kHasKeys ? 1 : 0));
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    JsonValue holder_;
    std::size_t index_ = 0;
  };

  explicit JsonRange(JsonValue holder) : holder_(holder) {}
  [[nodiscard]] Iterator begin() const { return {holder_, holder_.index_ + 1}; }
  [[nodiscard]] Iterator end() const {
    // The last word of an object is its '}'; a value of another kind holds nothing.
    const bool holds = kHasKeys ? holder_.is_object() : holder_.is_array();
    return {holder_, holds ? holder_.next_of(holder_.index_) - 1 : holder_.index_ + 1};
  }

 private:
  static constexpr bool kHasKeys = std::is_same_v<Item, JsonMember>;

  JsonValue holder_;
};

inline JsonMembers JsonValue::members() const { return JsonMembers(*this); }
inline JsonElements JsonValue::elements() const { return JsonElements(*this); }

inline JsonValue JsonValue::operator[](std::string_view key) const {
  for (const JsonMember& member : members()) {
    if (member.key == key) {
      return member.value;
    }
  }
  return {};
}

// JSON text to values, strictly: what we would not write, we do not read.
//
// Accepted: RFC 8259 in UTF-8, nested at most 64 deep. Refused besides broken text: a byte order
// mark, a key twice in one object, NUL in a string (raw or as \u0000), integers beyond 64 bits and
// numbers beyond a double (2^64, 1e400), because each would come back as something else.
//
// Two speeds: simdjson decides whether a text is good. Only when it is not, a second, slow parse
// (nlohmann's SAX) finds out where and why.

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

// Making JSON text: quoted strings, objects member by member, readable layout.

/// Appends `text` (UTF-8) to `out` as a JSON string: quotes, backslash and control characters are
/// escaped, everything else stays as it is.
void append_json_quoted(std::string& out, std::string_view text);

/// `text` as a JSON string.
std::string json_quoted(std::string_view text);

/// The shortest text that reads back as `number`, always with a '.' or an exponent ("1.0"). The
/// number must be finite.
std::string json_number(double number);

/// `text`, one valid JSON value, laid out for people: a member a line, two blanks a level, short
/// arrays of scalars on one line. Tokens keep their bytes. Ends without '\n'.
std::string json_pretty(std::string_view text);

/// Builds one compact JSON text from front to back. The caller pairs begin and end.
class JsonWriter {
 public:
  JsonWriter() {
    constexpr std::size_t kUsual = 320;
    text_.reserve(kUsual);
  }
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view key);

  JsonWriter& string(std::string_view value);
  JsonWriter& integer(std::int64_t value);
  JsonWriter& real(double value);
  JsonWriter& boolean(bool value);
  /// `text` must be one valid JSON value without line breaks; it is written as it is.
  JsonWriter& raw(std::string_view text);

  JsonWriter& member(std::string_view name, std::string_view value) {
    return key(name).string(value);
  }
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  JsonWriter& member(std::string_view name, Number value) {
    key(name);
    if constexpr (std::is_same_v<Number, bool>) {
      return boolean(value);
    } else if constexpr (std::is_floating_point_v<Number>) {
      return real(value);
    } else {
      return raw(std::to_string(value));
    }
  }
  /// A member that says something: none for an empty text.
  JsonWriter& member_unless_empty(std::string_view name, std::string_view value) {
    return value.empty() ? *this : member(name, value);
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Hands the text over and starts anew.
  std::string take();

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

// A parsed JSON value as text again, and texts as an array and back.

/// Whether write_json() gives the very same value back. Not for a number above std::int64_t, whose
/// digits a JsonValue does not hand out.
bool can_write_json(JsonValue value);
/// Writes `value`, null when it is absent: the same value, not the same bytes. What lies in more
/// than `depth_max` arrays and objects is left out; the parser bounds that anyway.
void write_json(JsonWriter& json, JsonValue value, std::size_t depth_max = 1024);
std::string json_of(JsonValue value);

/// The string of each element of the array `list`: "" for an element that is none.
std::vector<std::string> json_strings(JsonValue list);
/// Whether `list` is an array, and of strings only.
inline bool is_string_list(JsonValue list) {
  return list.is_array() && std::ranges::all_of(list.elements(), &JsonValue::is_string);
}

/// `texts` as an array of JSON.
template <typename Texts>
std::string list_json(const Texts& texts) {
  JsonWriter json;
  json.begin_array();
  for (const std::string_view text : texts) {
    json.string(text);
  }
  return json.end_array().take();
}

}  // namespace bmad_mem
