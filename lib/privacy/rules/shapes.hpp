// shapes.hpp - what `can_be` asks of bodies behind a prefix that names in code have as well.
#pragma once

#include <string_view>

namespace bmad_mem {

/// Names in code, such as tk_window, rarely have digits; random bodies have.
inline bool has_digits(std::string_view secret) {
  return secret.find_first_of("0123456789") != std::string_view::npos;
}

inline bool has_digits_and_capitals(std::string_view secret) {
  return has_digits(secret) &&
         secret.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string_view::npos;
}

}  // namespace bmad_mem
