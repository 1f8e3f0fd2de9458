#include "blanks.hpp"

namespace bmad_mem {

std::size_t blank_size(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t ahead) -> unsigned {
    return offset + ahead < text.size() ? static_cast<unsigned char>(text[offset + ahead]) : 0U;
  };
  switch (byte(0)) {
    case ' ':
    case '\t':
    case '\n':
    case '\v':
    case '\f':
    case '\r':
      return 1;
    case 0xC2:  // U+0085, the no-break space.
      return byte(1) == 0x85 || byte(1) == 0xA0 ? 2 : 0;
    case 0xE1:  // U+1680.
      return byte(1) == 0x9A && byte(2) == 0x80 ? 3 : 0;
    case 0xE2:  // U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F.
      return (byte(1) == 0x80 && ((byte(2) >= 0x80 && byte(2) <= 0x8A) || byte(2) == 0xA8 ||
                                  byte(2) == 0xA9 || byte(2) == 0xAF)) ||
                     (byte(1) == 0x81 && byte(2) == 0x9F)
                 ? 3
                 : 0;
    case 0xE3:  // U+3000, the blank between Han characters.
      return byte(1) == 0x80 && byte(2) == 0x80 ? 3 : 0;
    default:
      return 0;
  }
}

}  // namespace bmad_mem
