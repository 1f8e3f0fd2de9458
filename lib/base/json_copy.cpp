#include "bmad_mem/json_copy.hpp"

namespace bmad_mem {

bool can_write_json(JsonValue value) {
  for (const JsonMember& member : value.members()) {
    if (!can_write_json(member.value)) {
      return false;
    }
  }
  for (const JsonValue element : value.elements()) {
    if (!can_write_json(element)) {
      return false;
    }
  }
  return value.kind() != JsonKind::kUnsigned;
}

void write_json(JsonWriter& json, JsonValue value, std::size_t depth_max) {
  switch (value.kind()) {
    case JsonKind::kAbsent:
    case JsonKind::kNull:
      json.raw("null");
      break;
    case JsonKind::kBoolean:
      json.boolean(value.boolean());
      break;
    case JsonKind::kInteger:
      json.integer(value.integer());
      break;
    case JsonKind::kUnsigned:
    case JsonKind::kReal:
      json.real(value.number());
      break;
    case JsonKind::kString:
      json.string(value.string());
      break;
    case JsonKind::kArray:
      json.begin_array();
      for (const JsonValue element : value.elements()) {
        if (depth_max > 0) {
          write_json(json, element, depth_max - 1);
        }
      }
      json.end_array();
      break;
    case JsonKind::kObject:
      json.begin_object();
      for (const JsonMember& member : value.members()) {
        if (depth_max > 0) {
          json.key(member.key);
          write_json(json, member.value, depth_max - 1);
        }
      }
      json.end_object();
      break;
  }
}

std::string json_of(JsonValue value) {
  JsonWriter json;
  write_json(json, value);
  return json.take();
}

std::vector<std::string> json_strings(JsonValue list) {
  std::vector<std::string> strings;
  for (const JsonValue element : list.elements()) {
    strings.emplace_back(element.string());
  }
  return strings;
}

bool is_string_list(JsonValue list) {
  bool are_strings = list.is_array();
  for (const JsonValue element : list.elements()) {
    are_strings = are_strings && element.is_string();
  }
  return are_strings;
}

}  // namespace bmad_mem
