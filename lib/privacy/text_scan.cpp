#include "text_scan.hpp"

#include <algorithm>
#include <cstdint>

#include "privacy/secret_rule.hpp"

namespace bmad_mem {

bool contains_folded(std::string_view text, std::string_view lower) {
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(),
                     [](char given, char wanted) { return to_lower(given) == wanted; }) !=
         text.end();
}

std::string base64_decoded(std::string_view run) {
  std::string bytes;
  bytes.reserve(run.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : run) {
    bits = bits << 6U | kBase64Values[static_cast<unsigned char>(c)];
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xffU);
    }
  }
  return bytes;
}

std::string decode_base64(std::string_view encoded) {
  while (encoded.ends_with('=')) {
    encoded.remove_suffix(1);
  }
  return encoded.size() % 4 != 1 && all_are(encoded, is_base64_digit) ? base64_decoded(encoded)
                                                                      : std::string();
}

bool is_encoded_login(std::string_view text) {
  constexpr std::size_t kSizeMin = 4;
  constexpr std::size_t kSizeMax = 4096;
  if (text.size() < kSizeMin || text.size() > kSizeMax) {
    return false;
  }
  const std::string login = decode_base64(text);
  return login.find(':', 1) != std::string::npos &&
         std::ranges::all_of(login, [](char c) { return (c >= ' ' && c <= '~') || !is_ascii(c); });
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
