// json_strings.hpp - every string of a JSON value, decoded, with what is said about it there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"

namespace bmad_mem {

struct JsonString {
  std::string_view text;
  /// The member whose value it is, or whose array it is in; for the "value" of an object that has
  /// a "name" or "key" beside it, that. Empty for the name of a member.
  std::string_view name;
  bool is_id = false;  ///< An entry or session is known by it: "id", "parent_id", "references".
};

/// `json` with the strings for which `replace` returns something replaced; nothing when there are
/// none. `root` is the value of `json`. What is not replaced keeps its bytes. Depth is bounded by
/// that of the parser.
std::optional<std::string> replace_json_strings(
    JsonValue root, std::string_view json,
    const std::function<std::optional<std::string>(const JsonString&)>& replace);

}  // namespace bmad_mem
