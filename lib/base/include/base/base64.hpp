// base64.hpp - base64 as RFC 4648 has it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bmad_mem {

enum class Base64 : std::uint8_t {
  kPadded,  ///< With "+", "/", and "=" up to a multiple of four.
  kUrl,     ///< With "-" and "_", without padding.
};

/// What each letter stands for, of both alphabets: no text mixes them. Bits above 63: no letter.
inline constexpr std::array<std::uint8_t, 256> kBase64Values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(0xff);
  std::uint8_t next = 0;
  for (const char c :
       std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")) {
    values[static_cast<unsigned char>(c)] = next++;
  }
  values['-'] = values['+'];
  values['_'] = values['/'];
  return values;
}();
constexpr bool is_base64_digit(char c) { return kBase64Values[static_cast<unsigned char>(c)] < 64; }

/// `bytes` in letters. Takes the same time for all bytes of one size, so that it may be a key.
std::string base64_encoded(std::string_view bytes, Base64 form);

/// The bytes of `text` without padding; nothing where a character is no letter. Bits that fill no
/// byte are dropped. Not for keys: it looks letters up, which is four times as fast.
std::optional<std::string> base64_decoded(std::string_view text);

/// The same for text as base64_encoded() makes it in the form kUrl; nothing for any other.
std::optional<std::string> base64url_decoded(std::string_view text);

}  // namespace bmad_mem
