// json_place.hpp - where in a JSON text a value stands, for messages; parsed values don't know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bmad_mem {

/// From the outermost value inwards: the how-manieth member or element, 0-based.
using JsonPath = std::span<const std::size_t>;

/// Offset of the value at `path` in `text`, which is valid JSON and has such a value.
std::size_t json_value_offset(std::string_view text, JsonPath path);

/// Offset of the key of the member at `path`, which ends in a member of an object.
std::size_t json_key_offset(std::string_view text, JsonPath path);

}  // namespace bmad_mem
