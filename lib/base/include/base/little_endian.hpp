// little_endian.hpp - numbers in files, the same on every machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <string>

namespace bmad_mem {

template <typename Number>
Number as_little(Number number) {
  if constexpr (std::endian::native == std::endian::big) {
    return std::byteswap(number);
  }
  return number;
}

template <typename Number>
void put_little(Number number, std::string& out) {
  const Number little = as_little(number);
  const std::size_t at = out.size();
  out.resize(at + sizeof little);
  std::memcpy(out.data() + at, &little, sizeof little);
}

template <typename Number>
Number little_at(const char* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return as_little(number);
}

}  // namespace bmad_mem
