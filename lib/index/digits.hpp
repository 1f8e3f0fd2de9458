// digits.hpp - numbers as a fixed count of base-64 digits, six bits each, most significant first.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace bmad_mem {

inline constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
inline constexpr unsigned kDigitBits = 6;

constexpr std::array<std::uint8_t, 256> make_digit_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(0xFF);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}
inline constexpr std::array<std::uint8_t, 256> kDigitValues = make_digit_values();

/// The part of `value` that `digits` digits can say.
constexpr std::uint64_t low_digits(std::uint64_t value, std::size_t digits) {
  return value & ((std::uint64_t{1} << (kDigitBits * digits)) - 1);
}

/// Writes `value`, which must fit, at `to`; returns where it ends.
template <std::size_t kCount>
char* put_digits(std::uint64_t value, char* to) {
  assert(low_digits(value, kCount) == value);
  for (std::size_t i = 0; i < kCount; ++i) {
    to[i] = kDigits[(value >> (kDigitBits * (kCount - 1 - i))) & 63U];
  }
  return to + kCount;
}

/// Appends `value`, which must fit.
inline void append_digits(std::uint64_t value, std::size_t digits, std::string& out) {
  assert(low_digits(value, digits) == value);
  for (std::size_t i = digits; i-- > 0;) {
    out += kDigits[(value >> (kDigitBits * i)) & 63U];
  }
}

/// The number at `text`; `bad` ends up above 63 when a byte is no digit.
template <std::size_t kCount>
std::uint64_t read_digits(const char* text, std::uint32_t& bad) {
  std::uint64_t value = 0;
  // Unrolled: a column is millions of digits.
  const auto take = [&](std::size_t i) {
    const std::uint64_t digit = kDigitValues[static_cast<unsigned char>(text[i])];
    bad |= static_cast<std::uint32_t>(digit);
    value |= (digit & 63U) << (kDigitBits * (kCount - 1 - i));
  };
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    (take(kIndex), ...);
  }(std::make_index_sequence<kCount>());
  return value;
}

}  // namespace bmad_mem
