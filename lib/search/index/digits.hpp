// digits.hpp - numbers as a fixed count of base-64 digits, six bits each, most significant first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bmad_mem {

/// Appends the part of `value` that `digits` digits can say.
inline void append_digits(std::uint64_t value, std::size_t digits, std::string& out) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr unsigned kBits = 6;
  for (std::size_t i = digits; i-- > 0;) {
    out += kDigits[(value >> (kBits * i)) & 63U];
  }
}

}  // namespace bmad_mem
