// changed_bytes.hpp - a file with some of its bytes changed, as the bytes of a fuzzer say.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bmad_mem::test {

/// Each four of `bytes` change `text`: where (2), how, with what.
inline std::string changed_bytes(std::string text, std::string_view bytes) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  for (std::size_t at = 0; at + 4 <= bytes.size() && !text.empty(); at += 4) {
    const std::size_t where = (byte(at) * 256U + byte(at + 1)) % text.size();
    switch (byte(at + 2) % 5) {
      case 0:
        text[where] = bytes[at + 3];
        break;
      case 1:
        text[where] =
            static_cast<char>(static_cast<unsigned char>(text[where]) ^ (1U << (byte(at + 3) % 8)));
        break;
      case 2:
        text.erase(where, byte(at + 3));
        break;
      case 3:
        text.insert(where, text.substr(where, byte(at + 3)));
        break;
      default:
        text.resize(where);
    }
  }
  return text;
}

}  // namespace bmad_mem::test
