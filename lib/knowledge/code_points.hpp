// code_points.hpp - a text character by character.
#pragma once

#include <cstddef>
#include <string_view>

namespace bmad_mem {

struct CodePoint {
  char32_t value = 0;    ///< U+FFFD for a byte that is no UTF-8.
  std::size_t size = 1;  ///< In bytes.
};

/// The first character of `text`, which is not empty.
CodePoint first_code_point(std::string_view text);

}  // namespace bmad_mem
