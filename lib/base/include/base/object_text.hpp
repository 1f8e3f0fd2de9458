// object_text.hpp - changing some members of a JSON object and no byte of the others.
//
//   {"id":"x", "n": 1.00, "mine":{"a":[ 1 ]}}      set("n", "2")
//   {"id":"x","n":2,"mine":{"a":[1]}}              only blanks between tokens are gone
//
// Decoding and writing again would turn 1.00 into 1.0 and \u00e9 into e-acute: fields that the
// engine does not know would not survive. So the members are kept as the text they came in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json.hpp"

namespace bmad_mem {

/// The members of one object as text. Order is kept; set() of a new key appends.
class ObjectText {
 public:
  /// Takes apart `text`, which `object` was parsed from (an object; undefined otherwise).
  ObjectText(JsonValue object, std::string_view text);
  /// Takes apart `text`; without members when it is no object.
  explicit ObjectText(std::string_view text);

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  /// The compact JSON text of member `key`; empty when there is none.
  [[nodiscard]] std::string_view raw(std::string_view key) const;
  /// Replaces or appends member `key`. `raw` must be one JSON value without line breaks.
  void set(std::string_view key, std::string raw);
  /// The same with an object or a list; drops the member where that is empty.
  void set_unless_empty(std::string_view key, std::string raw);
  /// As set() with a string that is still to be quoted.
  void set_string(std::string_view key, std::string_view value);
  /// Drops member `key` if it is there.
  void remove(std::string_view key);

  /// The object on one line, without '\n': first the members named in `first`, in that order, then
  /// the others, then those named in `last`.
  [[nodiscard]] std::string to_line(std::span<const std::string_view> first = {},
                                    std::span<const std::string_view> last = {}) const;

 private:
  struct Member {
    std::string key;      // Decoded.
    std::string key_raw;  // As it stood, quotes included.
    std::string raw;
  };
  [[nodiscard]] const Member* find(std::string_view key) const;

  std::vector<Member> members_;
};

}  // namespace bmad_mem
