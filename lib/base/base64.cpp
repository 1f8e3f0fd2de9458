// base64.cpp - encodes with libsodium, and decodes by a table.
#include "base/base64.hpp"

#include <sodium.h>

#include <cassert>
#include <cstddef>
#include <utility>

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
  constexpr std::size_t kLetters = 4;
  std::string out;
  unsigned seen = 0;
  out.resize_and_overwrite(text.size() / kLetters * 3 + 3, [&](char* to, std::size_t) {
    const auto add = [&](std::size_t at, std::size_t count) {
      assert(count > 0 && at + count <= text.size());
      unsigned value = 0;
      for (std::size_t i = 0; i < kLetters; ++i) {
        const unsigned digit =
            i < count ? kBase64Values[static_cast<unsigned char>(text[at + i])] : 0U;
        seen |= digit;
        value = value << 6U | digit;
      }
      for (const unsigned shift : {16U, 8U, 0U}) {
        *to++ = static_cast<char>(value >> shift);
      }
    };
    std::size_t at = 0;
    for (; at + kLetters <= text.size(); at += kLetters) {
      add(at, kLetters);
    }
    if (at < text.size()) {
      add(at, text.size() - at);
    }
    return text.size() * 3 / kLetters;
  });
  return seen < 64 ? std::optional(std::move(out)) : std::nullopt;
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
