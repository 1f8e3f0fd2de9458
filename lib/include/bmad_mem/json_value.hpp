// json_value.hpp - a parsed JSON text, looked at in place.
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

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

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

class JsonMembers;
class JsonElements;

/// One value of a parsed text, or none (kAbsent). Two words and an index; pass it by value.
class JsonValue {
 public:
  JsonValue() = default;
  /// For JsonParser: the value at word `index` of `tape`.
  JsonValue(const std::uint64_t* tape, const std::uint8_t* strings, std::size_t index)
      : tape_(tape), strings_(strings), index_(index) {}

  [[nodiscard]] JsonKind kind() const {
    if (tape_ == nullptr) {
      return JsonKind::kAbsent;
    }
    switch (static_cast<char>(tape_[index_] >> 56U)) {
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
  [[nodiscard]] bool is_string() const { return kind() == JsonKind::kString; }
  [[nodiscard]] bool is_object() const { return kind() == JsonKind::kObject; }
  [[nodiscard]] bool is_array() const { return kind() == JsonKind::kArray; }
  [[nodiscard]] bool is_integer() const {
    return kind() == JsonKind::kInteger || kind() == JsonKind::kUnsigned;
  }
  [[nodiscard]] bool is_number() const { return is_integer() || kind() == JsonKind::kReal; }

  /// The decoded text; empty unless is_string().
  [[nodiscard]] std::string_view string() const { return is_string() ? string_at(index_) : ""; }
  /// `fallback` unless this is a boolean.
  [[nodiscard]] bool boolean(bool fallback = false) const {
    return kind() == JsonKind::kBoolean ? static_cast<char>(tape_[index_] >> 56U) == 't' : fallback;
  }
  /// The number as a double; `fallback` unless is_number().
  [[nodiscard]] double number(double fallback = 0) const;
  /// The number when it is a whole one within std::int64_t; `fallback` otherwise.
  [[nodiscard]] std::int64_t integer(std::int64_t fallback = 0) const {
    return kind() == JsonKind::kInteger ? static_cast<std::int64_t>(tape_[index_ + 1]) : fallback;
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
  friend class JsonMembers;
  friend class JsonElements;

  static constexpr std::uint64_t kPayload = 0x00FFFFFFFFFFFFFFU;

  [[nodiscard]] std::string_view string_at(std::size_t index) const {
    assert(tape_ != nullptr);
    const std::uint8_t* at = strings_ + (tape_[index] & kPayload);
    std::uint32_t size = 0;
    std::memcpy(&size, at, sizeof size);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the buffer holds UTF-8 bytes.
    return {reinterpret_cast<const char*>(at) + sizeof size, size};
  }
  /// The word after the value at `index`.
  [[nodiscard]] std::size_t after(std::size_t index) const {
    switch (static_cast<char>(tape_[index] >> 56U)) {
      case '{':
      case '[':
        return static_cast<std::uint32_t>(tape_[index]);  // Low 32 bits; the rest is a count.
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

/// for (const JsonMember& member : value.members())
class JsonMembers {
 public:
  class Iterator {
   public:
    Iterator(JsonValue object, std::size_t index) : object_(object), index_(index) {}
    JsonMember operator*() const {
      return {object_.string_at(index_), JsonValue(object_.tape_, object_.strings_, index_ + 1)};
    }
    Iterator& operator++() {
      index_ = object_.after(index_ + 1);
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    JsonValue object_;
    std::size_t index_;
  };

  explicit JsonMembers(JsonValue object) : object_(object) {}
  [[nodiscard]] Iterator begin() const { return {object_, object_.index_ + 1}; }
  [[nodiscard]] Iterator end() const {
    // The last word of an object is its '}'; a value that is no object has no members.
    return {object_, object_.is_object() ? object_.after(object_.index_) - 1 : object_.index_ + 1};
  }

 private:
  JsonValue object_;
};

/// for (JsonValue element : value.elements())
class JsonElements {
 public:
  class Iterator {
   public:
    Iterator(JsonValue array, std::size_t index) : array_(array), index_(index) {}
    JsonValue operator*() const { return {array_.tape_, array_.strings_, index_}; }
    Iterator& operator++() {
      index_ = array_.after(index_);
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    JsonValue array_;
    std::size_t index_;
  };

  explicit JsonElements(JsonValue array) : array_(array) {}
  [[nodiscard]] Iterator begin() const { return {array_, array_.index_ + 1}; }
  [[nodiscard]] Iterator end() const {
    return {array_, array_.is_array() ? array_.after(array_.index_) - 1 : array_.index_ + 1};
  }

 private:
  JsonValue array_;
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

}  // namespace bmad_mem
