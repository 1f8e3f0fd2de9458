// token_block.hpp - sixteen characters at once, or eight.
//
// Nearly all words have fewer than sixteen letters. Looking at as many bytes in one register finds
// a word's end without a branch that depends on its length: a loop over its bytes predicts most
// ends wrongly.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bmad_mem {

#ifdef __SSE2__

/// Sixteen bytes of a text; the first is the lowest. Vectors as the compilers have them, but for
/// one instruction that they have no operator for.
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
    using Chars = char __attribute__((vector_size(kSize)));
    return static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(reinterpret_cast<Chars>(mask)));
  }

  [[nodiscard]] Mask letters() const {
    const Bytes from_a = (value_ | kCaseBit) - static_cast<std::uint8_t>('a');
    return from_a <= static_cast<std::uint8_t>('z' - 'a');
  }

  Bytes value_;
};

#else

/// Eight bytes of a text; the first is the lowest.
class TextBlock {
 public:
  static constexpr std::size_t kSize = 8;

  static TextBlock load(const char* bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, kSize);
    return TextBlock(in_order(value));
  }

  /// How many ASCII letters it begins with.
  [[nodiscard]] std::size_t letter_count() const {
    return static_cast<std::size_t>(std::countr_zero(~letters() & each(0x80))) / kByteBits;
  }

  /// Whether a capital is among the first `count` bytes, which are letters, the first `skipped`
  /// aside.
  [[nodiscard]] bool has_capital(std::size_t skipped, std::size_t count) const {
    const std::uint64_t capitals = ~(value_ << 2U) & each(0x80);  // Bit 5 tells the case.
    return ((capitals & first(count)) >> (skipped * kByteBits)) != 0;
  }

  /// Writes the bytes to `out`, ASCII capitals in lower case.
  void store_lower(char* out) const {
    const std::uint64_t capitals = letters() & ~(value_ << 2U);
    const std::uint64_t value = in_order(value_ | (capitals >> 2U));
    std::memcpy(out, &value, kSize);
  }

 private:
  static constexpr std::size_t kByteBits = 8;

  explicit TextBlock(std::uint64_t value) : value_(value) {}

  static constexpr std::uint64_t each(std::uint64_t byte) { return byte * 0x0101010101010101U; }

  static constexpr std::uint64_t first(std::size_t count) {
    return count >= kSize ? ~std::uint64_t{0} : (std::uint64_t{1} << (count * kByteBits)) - 1;
  }

  static std::uint64_t in_order(std::uint64_t value) {
    return std::endian::native == std::endian::little ? value : __builtin_bswap64(value);
  }

  /// The highest bit of each byte that is a letter.
  [[nodiscard]] std::uint64_t letters() const {
    const std::uint64_t folded = (value_ & each(0x7F)) | each(0x20);
    const std::uint64_t from_a = folded + each(0x80 - 'a');  // No byte carries into the next.
    const std::uint64_t past_z = folded + each(0x80 - ('z' + 1));
    return from_a & ~past_z & ~value_ & each(0x80);
  }

  std::uint64_t value_;
};

#endif

}  // namespace bmad_mem
