// kernel_floats.hpp - 16 floats at once, in whatever registers a processor has.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "weights.hpp"

namespace bmad_mem::encoder {

#define BMAD_INLINE [[gnu::always_inline]] inline
/// In front of a loop over rows or parts: what it indexes are registers only when it is unrolled,
/// and g++ decides that too late by itself.
#define BMAD_UNROLLED _Pragma("GCC unroll 16")
/// Behind the parameters of a function within a kernel.
#define BMAD_INLINED __attribute__((always_inline))

/// kLanes floats in registers of `kSize` floats. GNU's own vectors of more than a register go
/// through memory.
template <std::uint32_t kSize>
struct Floats {
  static constexpr std::uint32_t kParts = kLanes / kSize;
  using Part [[gnu::vector_size(kSize * 4)]] = float;
  using Integers [[gnu::vector_size(kSize * 4)]] = std::int32_t;
  using Bytes [[gnu::vector_size(kSize)]] = std::uint8_t;
  using SignedBytes [[gnu::vector_size(kSize)]] = std::int8_t;
  Part parts[kParts];
};

/// `make(part)` for each part.
template <std::uint32_t kSize, typename Make>
BMAD_INLINE Floats<kSize> each_part(const Make& make) {
  Floats<kSize> made;
  BMAD_UNROLLED
  for (std::uint32_t part = 0; part < Floats<kSize>::kParts; ++part) {
    made.parts[part] = make(part);
  }
  return made;
}

template <std::uint32_t kSize>
BMAD_INLINE Floats<kSize> spread(float number) {
  return each_part<kSize>([&](std::uint32_t)
                              BMAD_INLINED { return typename Floats<kSize>::Part{} + number; });
}

#define BMAD_OPERATOR(SIGN)                                                                 \
  template <std::uint32_t kSize>                                                            \
  BMAD_INLINE Floats<kSize> operator SIGN(const Floats<kSize>& a, const Floats<kSize>& b) { \
    return each_part<kSize>([&](std::uint32_t part)                                         \
                                BMAD_INLINED { return a.parts[part] SIGN b.parts[part]; }); \
  }                                                                                         \
  template <std::uint32_t kSize>                                                            \
  BMAD_INLINE Floats<kSize> operator SIGN(const Floats<kSize>& a, float b) {                \
    return a SIGN spread<kSize>(b);                                                         \
  }
BMAD_OPERATOR(+)
BMAD_OPERATOR(-)
BMAD_OPERATOR(*)
BMAD_OPERATOR(/)
#undef BMAD_OPERATOR

template <std::uint32_t kSize>
BMAD_INLINE Floats<kSize> load(const float* from) {
  return each_part<kSize>([&](std::uint32_t part) BMAD_INLINED {
    typename Floats<kSize>::Part made;
    std::memcpy(&made, from + std::size_t{part} * kSize, sizeof made);
    return made;
  });
}

template <std::uint32_t kSize>
BMAD_INLINE void store(const Floats<kSize>& from, float* to) {
  BMAD_UNROLLED
  for (std::uint32_t part = 0; part < Floats<kSize>::kParts; ++part) {
    std::memcpy(to + std::size_t{part} * kSize, &from.parts[part], sizeof from.parts[part]);
  }
}

template <std::uint32_t kSize>
BMAD_INLINE Floats<kSize> larger(const Floats<kSize>& a, const Floats<kSize>& b) {
  return each_part<kSize>([&](std::uint32_t part) BMAD_INLINED {
    return a.parts[part] > b.parts[part] ? a.parts[part] : b.parts[part];
  });
}

/// Lane to lane in one order, whatever the size of a register.
template <std::uint32_t kSize>
BMAD_INLINE float sum_of(const Floats<kSize>& values) {
  float lanes[kLanes];
  store(values, lanes);
  for (std::uint32_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::uint32_t lane = 0; lane < half; ++lane) {
      lanes[lane] += lanes[lane + half];
    }
  }
  return lanes[0];
}

template <std::uint32_t kSize>
BMAD_INLINE float greatest_of(const Floats<kSize>& values) {
  float lanes[kLanes];
  store(values, lanes);
  for (std::uint32_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::uint32_t lane = 0; lane < half; ++lane) {
      lanes[lane] = lanes[lane + half] > lanes[lane] ? lanes[lane + half] : lanes[lane];
    }
  }
  return lanes[0];
}

/// Rounds to the nearest integer, once added and taken off: 1.5 * 2^23, for sizes below 2^22.
inline constexpr float kRounder = 12582912.0F;

/// e to the power of each, for -87 to 0: 2^n * a polynomial of the rest (Cephes, expf).
template <std::uint32_t kSize>
BMAD_INLINE Floats<kSize> exponential(const Floats<kSize>& exponents) {
  constexpr float kLowest = -87.0F;
  constexpr float kLog2E = 1.44269504088896341F;
  constexpr float kLn2High = 0.693359375F;
  constexpr float kLn2Low = -2.12194440e-4F;
  const Floats<kSize> x = larger(exponents, spread<kSize>(kLowest));
  const Floats<kSize> shifted = x * kLog2E + kRounder;
  const Floats<kSize> whole = shifted - kRounder;
  const Floats<kSize> rest = x - whole * kLn2High - whole * kLn2Low;
  Floats<kSize> power = spread<kSize>(1.9875691500e-4F);
  power = power * rest + 1.3981999507e-3F;
  power = power * rest + 8.3334519073e-3F;
  power = power * rest + 4.1665795894e-2F;
  power = power * rest + 1.6666665459e-1F;
  power = power * rest + 5.0000001201e-1F;
  power = power * rest * rest + rest + 1.0F;
  constexpr std::int32_t kExponentBias = 127;
  constexpr std::int32_t kExponentShift = 23;
  constexpr auto kRounderBits = std::bit_cast<std::int32_t>(kRounder);
  const Floats<kSize> scale = each_part<kSize>([&](std::uint32_t part) BMAD_INLINED {
    return std::bit_cast<typename Floats<kSize>::Part>(
        (std::bit_cast<typename Floats<kSize>::Integers>(shifted.parts[part]) - kRounderBits +
         kExponentBias)
        << kExponentShift);
  });
  return power * scale;
}

}  // namespace bmad_mem::encoder
