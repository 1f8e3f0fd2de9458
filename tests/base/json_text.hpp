// json_text.hpp - what the tests of json/ share: text to value, and values compared.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/json.hpp"

namespace bmad_mem::test {

/// A parsed text that keeps what its values live on.
class Parsed {
 public:
  explicit Parsed(std::string_view text) : value_(parser_.parse(text).value()) {}
  [[nodiscard]] JsonValue value() const { return value_; }
  JsonValue operator[](std::string_view key) const { return value_[key]; }

 private:
  JsonParser parser_;
  JsonValue value_;
};

/// Whether both are the same JSON: members in the same order, strings decoded, numbers by value.
inline bool same_json(JsonValue a, JsonValue b) {
  if (a.kind() != b.kind()) {
    return false;
  }
  if (a.is_object()) {
    auto other = b.members().begin();
    const auto end = b.members().end();
    for (const JsonMember& member : a.members()) {
      if (!(other != end) || (*other).key != member.key ||
          !same_json(member.value, (*other).value)) {
        return false;
      }
      ++other;
    }
    return !(other != end);
  }
  if (a.is_array()) {
    auto other = b.elements().begin();
    const auto end = b.elements().end();
    for (const JsonValue element : a.elements()) {
      if (!(other != end) || !same_json(element, *other)) {
        return false;
      }
      ++other;
    }
    return !(other != end);
  }
  return a.string() == b.string() && a.boolean() == b.boolean() && a.number() == b.number() &&
         a.integer() == b.integer();
}

inline bool same_json(std::string_view a, std::string_view b) {
  return same_json(Parsed(a).value(), Parsed(b).value());
}

/// `inner` in `depth` arrays.
inline std::string nested(std::size_t depth, std::string_view inner = "") {
  return std::string(depth, '[') + std::string(inner) + std::string(depth, ']');
}

}  // namespace bmad_mem::test
