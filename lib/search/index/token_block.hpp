// token_block.hpp - sixteen characters at once.
//
// Nearly all words have fewer than sixteen letters. Looking at as many bytes in one register finds
// a word's end without a branch that depends on its length: a loop over its bytes predicts most
// ends wrongly.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bmad_mem {

/// Sixteen bytes of a text; the first is the lowest. Vectors as the compilers have them on any
/// processor, except one step that they have no operator for.
class TextBlock {
 public:
  static constexpr std::size_t kSize = 16;

  static TextBlock load(const char* bytes) {
    TextBlock block;
    std::memcpy(&block.value_, bytes, kSize);
    return block;
  }

  /// How many ASCII letters it begins with.
  [[nodiscard]] std::size_t letter_count() const {
    return static_cast<std::size_t>(std::countr_one(bits(letters())));
  }

  /// Whether a capital is among the first `count` bytes, which are letters, the first `skipped`
  /// aside.
  [[nodiscard]] bool has_capital(std::size_t skipped, std::size_t count) const {
    const std::uint32_t capitals = bits((value_ & kCaseBit) == 0);
    return ((capitals & ((1U << count) - 1)) >> skipped) != 0;
  }

  /// Writes the bytes to `out`, ASCII capitals in lower case.
  void store_lower(char* out) const {
    const Bytes lower = value_ | (reinterpret_cast<Bytes>(letters()) & kCaseBit);
    std::memcpy(out, &lower, kSize);
  }

 private:
  using Bytes = std::uint8_t __attribute__((vector_size(kSize)));
  using Mask = signed char __attribute__((vector_size(kSize)));  // -1 for true.
  static constexpr std::uint8_t kCaseBit = 0x20;

  TextBlock() = default;

  /// One bit for each byte.
  static std::uint32_t bits(Mask mask) {
#ifdef __SSE2__
    using Chars = char __attribute__((vector_size(kSize)));
    return static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(reinterpret_cast<Chars>(mask)));
#else
    std::array<std::uint64_t, 2> halves{};
    std::memcpy(halves.data(), &mask, kSize);
    const auto gathered = [](std::uint64_t half) {
      constexpr std::uint64_t kOnes = 0x0101010101010101U;
      constexpr std::uint64_t kGather = 0x0102040810204080U;  // Byte k to bit 56 + k.
      half = std::endian::native == std::endian::little ? half : __builtin_bswap64(half);
      return static_cast<std::uint32_t>((half & kOnes) * kGather >> 56U);
    };
    return gathered(halves[0]) | gathered(halves[1]) << 8U;
#endif
  }

  [[nodiscard]] Mask letters() const {
    const Bytes from_a = (value_ | kCaseBit) - static_cast<std::uint8_t>('a');
    return from_a <= static_cast<std::uint8_t>('z' - 'a');
  }

  Bytes value_;
};

}  // namespace bmad_mem
