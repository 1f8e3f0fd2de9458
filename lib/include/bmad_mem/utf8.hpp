// utf8.hpp - UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bmad_mem {

/// How many bytes from the front are valid UTF-8; text.size() when all are. A character cut off by
/// the end of the text is not valid.
std::size_t utf8_valid_size(std::string_view text);

/// How many bytes the character at the front of valid UTF-8 `text` takes, which is not empty.
constexpr std::size_t utf8_character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/// The longest prefix of valid UTF-8 `text` of at most `size_max` bytes that cuts no character.
std::string_view utf8_prefix(std::string_view text, std::size_t size_max);

/// `text` with each byte that is not part of valid UTF-8, and each NUL, replaced by U+FFFD.
std::string utf8_repaired(std::string_view text);

}  // namespace bmad_mem
