// byte_places.hpp - the places of a text at which a byte of a small set stands, at one or two
// instructions a byte.
//
//   16 bytes ── compared with each of the set at once ──► 16 bits ── the lowest ──► use()
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace bmad_mem {

using ByteBlock = unsigned char __attribute__((vector_size(16)));
using SignedBlock = char __attribute__((vector_size(16)));

constexpr ByteBlock block_of(unsigned char c) {
  return ByteBlock{c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c};
}

/// Some bytes, and digits when `kDigits`.
template <bool kDigits, unsigned char... kBytes>
struct ByteSet {
  static auto in(ByteBlock block) {
    auto mask = (... | (block == block_of(kBytes)));
    if constexpr (kDigits) {
      mask |= (block - block_of('0')) < block_of(10);
    }
    return mask;
  }
  static constexpr bool has(unsigned char c) {
    return (... || (c == kBytes)) || (kDigits && c >= '0' && c <= '9');
  }
};

template <typename Set>
class BytePlaces {
 public:
  explicit BytePlaces(std::string_view text) : text_(text) {}

  /// Calls `use(place)` for each place of such a byte, ascending, from `from` on, and then from the
  /// place on that the last call returned: the text's size ends it.
  template <typename Use>
  void for_each(const Use& use, std::size_t from = 0) const {
    for (std::size_t block = from / kSize; block * kSize < text_.size();
         block = std::max(block + 1, from / kSize)) {
      for (unsigned rest = mask_at(block); rest != 0; rest &= rest - 1) {
        const std::size_t at = (block * kSize) + static_cast<std::size_t>(std::countr_zero(rest));
        if (at >= from) {
          from = use(at);
          assert(from > at && "the walk moves on, so it ends");
        }
      }
    }
  }

 private:
  static constexpr std::size_t kSize = 16;

  [[nodiscard]] unsigned mask_at(std::size_t block) const {
    assert(block * kSize < text_.size());
    const char* begin = text_.data() + (block * kSize);
    const std::size_t size = text_.size() - (block * kSize);
    if (size >= kSize) [[likely]] {
      return mask_of(begin);
    }
    if (text_.size() >= kSize) {
      return mask_of(begin + size - kSize) >> (kSize - size);  // The last 16 bytes.
    }
    unsigned mask = 0;
    for (std::size_t i = 0; i < size; ++i) {
      mask |= static_cast<unsigned>(Set::has(static_cast<unsigned char>(begin[i]))) << i;
    }
    return mask;
  }

  static unsigned mask_of(const char* begin) {
    ByteBlock bytes;
    std::memcpy(&bytes, begin, kSize);
    const auto in = Set::in(bytes);
#if defined(__SSE2__)
    return static_cast<unsigned>(__builtin_ia32_pmovmskb128(std::bit_cast<SignedBlock>(in)));
#else
    unsigned mask = 0;
    for (std::size_t i = 0; i < kSize; ++i) {
      mask |= static_cast<unsigned>(in[i] & 1) << i;
    }
    return mask;
#endif
  }

  std::string_view text_;
};

}  // namespace bmad_mem
