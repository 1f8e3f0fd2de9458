#include "bmad_mem/json_value.hpp"

#include <bit>

namespace bmad_mem {

std::string_view json_kind_name(JsonKind kind) {
  switch (kind) {
    case JsonKind::kAbsent:
      return "nothing";
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBoolean:
      return "a boolean";
    case JsonKind::kInteger:
    case JsonKind::kUnsigned:
    case JsonKind::kReal:
      return "a number";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kArray:
      return "an array";
    case JsonKind::kObject:
      return "an object";
  }
  return "nothing";
}

double JsonValue::number(double fallback) const {
  switch (kind()) {
    case JsonKind::kInteger:
      return static_cast<double>(static_cast<std::int64_t>(tape_[index_ + 1]));
    case JsonKind::kUnsigned:
      return static_cast<double>(tape_[index_ + 1]);
    case JsonKind::kReal:
      return std::bit_cast<double>(tape_[index_ + 1]);
    default:
      return fallback;
  }
}

}  // namespace bmad_mem
