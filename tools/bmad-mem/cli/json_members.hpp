// json_members.hpp - members that are left out when there is nothing in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::cli {

/// A member `name` with `text`; nothing for an empty one.
inline void add_text(JsonWriter& json, std::string_view name, std::string_view text) {
  if (!text.empty()) {
    json.member(name, text);
  }
}

/// A member `name` with an array, also an empty one.
inline void add_list(JsonWriter& json, std::string_view name,
                     const std::vector<std::string>& texts) {
  json.key(name).begin_array();
  for (const std::string& text : texts) {
    json.string(text);
  }
  json.end_array();
}

}  // namespace bmad_mem::cli
