#include "code_points.hpp"

#include <algorithm>
#include <cassert>

#include "bmad_mem/utf8.hpp"

namespace bmad_mem {

CodePoint first_code_point(std::string_view text) {
  assert(!text.empty());
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  const char32_t lead = byte(0);
  if (lead < 0x80) {
    return {.value = lead, .size = 1};
  }
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (text.size() < size || utf8_valid_size(text.substr(0, size)) != size) {
    return {.value = 0xFFFD, .size = 1};
  }
  char32_t value = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    value = value << 6U | (byte(i) & 0x3FU);
  }
  return {.value = value, .size = size};
}

}  // namespace bmad_mem
