// base64.cpp - encodes with libsodium, and decodes by a table.
#include "base/base64.hpp"

#include <sodium.h>

#include <cassert>
#include <cstddef>

namespace bmad_mem {

std::string base64_encoded(std::string_view bytes, Base64 form) {
  const int variant = form == Base64::kPadded ? sodium_base64_VARIANT_ORIGINAL
                                              : sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::string out(sodium_base64_encoded_len(bytes.size(), variant), '\0');
  sodium_bin2base64(
      out.data(), out.size(),
      reinterpret_cast<const unsigned char*>(bytes.data()),  // NOLINT(*-reinterpret-cast)
      bytes.size(), variant);
  assert(!out.empty() && out.back() == '\0' && "libsodium ends the text with a NUL");
  out.pop_back();  // Its NUL.
  return out;
}

std::optional<std::string> base64_decoded(std::string_view text) {
  std::string out(text.size() * 3 / 4, '\0');
  std::size_t at = 0;
  std::uint32_t bits = 0;
  unsigned count = 0;  // Of the lowest bits that are in no byte yet.
  for (const char c : text) {
    if (!is_base64_digit(c)) {
      return std::nullopt;
    }
    bits = bits << 6U | kBase64Values[static_cast<unsigned char>(c)];
    count += 6;
    if (count >= 8) {
      count -= 8;
      out[at++] = static_cast<char>(bits >> count & 0xFFU);
    }
  }
  assert(at == out.size());
  return out;
}

std::optional<std::string> base64url_decoded(std::string_view text) {
  std::optional<std::string> bytes = base64_decoded(text);
  if (!bytes || text.contains('+') || text.contains('/')) {
    return std::nullopt;
  }
  assert(bytes->size() == text.size() * 3 / 4);
  // Of the last group some bits fill no byte: they are 0 in the one way to write it.
  const std::string_view last = std::string_view(*bytes).substr(text.size() / 4 * 3);
  return base64_encoded(last, Base64::kUrl) == text.substr(text.size() / 4 * 4) ? bytes
                                                                                : std::nullopt;
}

}  // namespace bmad_mem
