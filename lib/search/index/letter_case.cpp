#include "bmad_mem/letter_case.hpp"

#include <utf8proc.h>

#include <array>

namespace bmad_mem {

std::string lower_case(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char byte = text[at];
    if ((static_cast<unsigned char>(byte) & 0x80U) == 0) {
      lower += byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
      ++at;
      continue;
    }
    utf8proc_int32_t code = 0;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the bytes are UTF-8.
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const utf8proc_ssize_t size =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (size <= 0) {
      lower += byte;
      ++at;
      continue;
    }
    std::array<utf8proc_uint8_t, 4> encoded{};
    const utf8proc_ssize_t count = utf8proc_encode_char(utf8proc_tolower(code), encoded.data());
    lower.append(encoded.begin(), encoded.begin() + count);
    at += static_cast<std::size_t>(size);
  }
  return lower;
}

}  // namespace bmad_mem
