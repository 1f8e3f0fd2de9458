#include "text_scan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "privacy/secret_rule.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint8_t kNotBase64 = 0xff;

/// Both alphabets at once: no text mixes them.
constexpr std::array<std::uint8_t, 256> kBase64Values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNotBase64);
  std::uint8_t next = 0;
  for (const char c :
       std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")) {
    values[static_cast<unsigned char>(c)] = next++;
  }
  values['-'] = values['+'];
  values['_'] = values['/'];
  return values;
}();

}  // namespace

bool contains_folded(std::string_view text, std::string_view lower) {
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(),
                     [](char given, char wanted) { return folded(given) == wanted; }) != text.end();
}

std::string decode_base64(std::string_view encoded) {
  while (encoded.ends_with('=')) {
    encoded.remove_suffix(1);
  }
  std::string decoded;
  decoded.reserve(encoded.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned bit_count = 0;
  for (const char c : encoded) {
    const std::uint8_t value = kBase64Values[static_cast<unsigned char>(c)];
    if (value == kNotBase64) {
      return {};
    }
    bits = (bits << 6U | value) & 0xffffU;
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      decoded += static_cast<char>(bits >> bit_count & 0xffU);
    }
  }
  return encoded.size() % 4 == 1 ? std::string() : decoded;
}

bool is_encoded_login(std::string_view text) {
  constexpr std::size_t kSizeMin = 4;
  constexpr std::size_t kSizeMax = 4096;
  if (text.size() < kSizeMin || text.size() > kSizeMax) {
    return false;
  }
  const std::string login = decode_base64(text);
  return login.find(':', 1) != std::string::npos &&
         std::ranges::all_of(login, [](char c) { return (c >= ' ' && c <= '~') || c < '\0'; });
}

Shape shape_of(std::string_view value) {
  Shape shape;
  enum class Kind : std::uint8_t { kNone, kLower, kUpper, kDigit };
  Kind last = Kind::kNone;
  for (const char c : value) {
    Kind kind = Kind::kNone;
    if (is_lower(c)) {
      kind = Kind::kLower;
      ++shape.lower;
    } else if (is_upper(c)) {
      kind = Kind::kUpper;
      ++shape.upper;
    } else if (is_digit(c)) {
      kind = Kind::kDigit;
      ++shape.digits;
    } else {
      continue;
    }
    shape.turns += last != Kind::kNone && kind != last ? 1U : 0U;
    last = kind;
  }
  return shape;
}

bool looks_random(std::string_view value) {
  // A key of letters and digits turns at 6 of 10 places, a hexadecimal one at 4 to 5, camelCase at
  // 3, words with a number behind at 1. Longer values tell nothing that their begin does not.
  constexpr std::size_t kEnough = 256;
  constexpr std::size_t kSizeMin = 16;
  constexpr double kEntropyMin = 3.0;
  if (value.size() < kSizeMin) {
    return false;
  }
  value = value.substr(0, kEnough);
  const Shape shape = shape_of(value);
  const bool turns_often = shape.digits > 0
                               ? shape.turns * 5 >= value.size()
                               : shape.upper > 0 && shape.turns * 5 >= value.size() * 2;
  return turns_often && shannon_entropy(value) >= kEntropyMin;
}

}  // namespace bmad_mem
