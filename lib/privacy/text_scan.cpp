#include "text_scan.hpp"

#include <algorithm>
#include <cstdint>

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

}  // namespace bmad_mem
