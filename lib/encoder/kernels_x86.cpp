#if defined(__x86_64__)

#include <immintrin.h>

#include <cstddef>
#include <vector>

#include "kernel_body.hpp"
#include "kernels.hpp"

// A block's sums stay in registers while the inputs go by: for each row the four bytes of a quad,
// repeated, against 16 outputs (8 for AVX2) of four weights each.

namespace bmad_mem::encoder {
namespace {

/// The four bytes at `from`.
BMAD_INLINE int quad_at(const std::uint8_t* from) {
  int quad = 0;
  std::memcpy(&quad, from, sizeof quad);
  return quad;
}

}  // namespace

namespace avx512 {
namespace {

#define BMAD_AVX512 [[gnu::target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]]

template <std::uint32_t kCount>
BMAD_AVX512 void add_rows(const Slice& slice, std::int32_t* sums) {
  __m512i low[kCount];
  __m512i high[kCount];
  BMAD_UNROLLED
  for (std::uint32_t row = 0; row < kCount; ++row) {
    low[row] = _mm512_loadu_si512(sums + std::size_t{row} * kBlock);
    high[row] = _mm512_loadu_si512(sums + std::size_t{row} * kBlock + kLanes);
  }
  const std::int8_t* weights = slice.weights;
  const std::int8_t* more = weights + std::size_t{kLanes} * slice.width;
  for (std::uint32_t at = 0; at < slice.inputs; at += kQuad) {
    const __m512i first = _mm512_loadu_si512(weights + std::size_t{at} * kLanes);
    const __m512i second = _mm512_loadu_si512(more + std::size_t{at} * kLanes);
    BMAD_UNROLLED
    for (std::uint32_t row = 0; row < kCount; ++row) {
      const __m512i quad =
          _mm512_set1_epi32(quad_at(slice.bytes + std::size_t{row} * slice.width + at));
      low[row] = _mm512_dpbusd_epi32(low[row], quad, first);
      high[row] = _mm512_dpbusd_epi32(high[row], quad, second);
    }
  }
  BMAD_UNROLLED
  for (std::uint32_t row = 0; row < kCount; ++row) {
    _mm512_storeu_si512(sums + std::size_t{row} * kBlock, low[row]);
    _mm512_storeu_si512(sums + std::size_t{row} * kBlock + kLanes, high[row]);
  }
}

struct Isa {
  static constexpr std::uint32_t kRows = 12;
  static constexpr std::uint32_t kRegisterFloats = 16;
  static constexpr bool kSubtractsZero = false;
  template <std::uint32_t kCount>
  static constexpr AddRows* kAdd = add_rows<kCount>;
};

BMAD_KERNELS("AVX-512 VNNI", BMAD_AVX512)

}  // namespace
}  // namespace avx512

namespace avxvnni {
namespace {

#define BMAD_AVXVNNI [[gnu::target("avx2,avxvnni")]]

template <std::uint32_t kCount>
BMAD_AVXVNNI void add_rows(const Slice& slice, std::int32_t* sums) {
  constexpr std::uint32_t kHalf = kLanes / 2;
  // Half a block after the other: 12 sums and what goes in fill the 16 registers.
  for (std::uint32_t half = 0; half < kBlock; half += kLanes) {
    const std::int8_t* from = slice.weights + std::size_t{half} * slice.width;
    __m256i low[kCount];
    __m256i high[kCount];
    BMAD_UNROLLED
    for (std::uint32_t row = 0; row < kCount; ++row) {
      const auto* before =
          reinterpret_cast<const __m256i*>(sums + std::size_t{row} * kBlock + half);
      low[row] = _mm256_loadu_si256(before);
      high[row] = _mm256_loadu_si256(before + 1);
    }
    for (std::uint32_t at = 0; at < slice.inputs;
         at += kQuad, from += std::size_t{kLanes} * kQuad) {
      const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
      const __m256i second =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + std::size_t{kHalf} * kQuad));
      BMAD_UNROLLED
      for (std::uint32_t row = 0; row < kCount; ++row) {
        const __m256i quad =
            _mm256_set1_epi32(quad_at(slice.bytes + std::size_t{row} * slice.width + at));
        low[row] = _mm256_dpbusd_avx_epi32(low[row], quad, first);
        high[row] = _mm256_dpbusd_avx_epi32(high[row], quad, second);
      }
    }
    BMAD_UNROLLED
    for (std::uint32_t row = 0; row < kCount; ++row) {
      auto* to = reinterpret_cast<__m256i*>(sums + std::size_t{row} * kBlock + half);
      _mm256_storeu_si256(to, low[row]);
      _mm256_storeu_si256(to + 1, high[row]);
    }
  }
}

struct Isa {
  static constexpr std::uint32_t kRows = 6;
  static constexpr std::uint32_t kRegisterFloats = 8;
  static constexpr bool kSubtractsZero = false;
  template <std::uint32_t kCount>
  static constexpr AddRows* kAdd = add_rows<kCount>;
};

BMAD_KERNELS("AVX-VNNI", BMAD_AVXVNNI)

}  // namespace
}  // namespace avxvnni

namespace avx2 {
namespace {

#define BMAD_AVX2 [[gnu::target("avx2")]]

/// Without a dot product of its own: bytes with a sign, whose sizes multiply with the weights that
/// took the sign. Two products are at most 2 * 127 * 127, so that 16 bits hold them.
template <std::uint32_t kCount>
BMAD_AVX2 void add_rows(const Slice& slice, std::int32_t* sums) {
  constexpr std::uint32_t kHalf = kLanes / 2;
  const __m256i zero = _mm256_set1_epi8(static_cast<char>(kByteZero));
  const __m256i ones = _mm256_set1_epi16(1);
  for (std::uint32_t half = 0; half < kBlock; half += kLanes) {
    const std::int8_t* from = slice.weights + std::size_t{half} * slice.width;
    __m256i low[kCount];
    __m256i high[kCount];
    BMAD_UNROLLED
    for (std::uint32_t row = 0; row < kCount; ++row) {
      const auto* before =
          reinterpret_cast<const __m256i*>(sums + std::size_t{row} * kBlock + half);
      low[row] = _mm256_loadu_si256(before);
      high[row] = _mm256_loadu_si256(before + 1);
    }
    for (std::uint32_t at = 0; at < slice.inputs;
         at += kQuad, from += std::size_t{kLanes} * kQuad) {
      const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
      const __m256i second =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + std::size_t{kHalf} * kQuad));
      BMAD_UNROLLED
      for (std::uint32_t row = 0; row < kCount; ++row) {
        const __m256i quad = _mm256_xor_si256(
            _mm256_set1_epi32(quad_at(slice.bytes + std::size_t{row} * slice.width + at)), zero);
        const __m256i size = _mm256_abs_epi8(quad);
        const __m256i one = _mm256_maddubs_epi16(size, _mm256_sign_epi8(first, quad));
        const __m256i two = _mm256_maddubs_epi16(size, _mm256_sign_epi8(second, quad));
        low[row] = _mm256_add_epi32(low[row], _mm256_madd_epi16(one, ones));
        high[row] = _mm256_add_epi32(high[row], _mm256_madd_epi16(two, ones));
      }
    }
    BMAD_UNROLLED
    for (std::uint32_t row = 0; row < kCount; ++row) {
      auto* to = reinterpret_cast<__m256i*>(sums + std::size_t{row} * kBlock + half);
      _mm256_storeu_si256(to, low[row]);
      _mm256_storeu_si256(to + 1, high[row]);
    }
  }
}

struct Isa {
  static constexpr std::uint32_t kRows = 6;
  static constexpr std::uint32_t kRegisterFloats = 8;
  static constexpr bool kSubtractsZero = true;
  template <std::uint32_t kCount>
  static constexpr AddRows* kAdd = add_rows<kCount>;
};

BMAD_KERNELS("AVX2", BMAD_AVX2)

}  // namespace
}  // namespace avx2

std::vector<const Kernels*> kernels_of_processor() {
  std::vector<const Kernels*> kernels;
  const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2 && __builtin_cpu_supports("avx512vnni") != 0 &&
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
      __builtin_cpu_supports("avx512vl") != 0) {
    kernels.push_back(&avx512::kKernels);
  }
  if (has_avx2 && __builtin_cpu_supports("avxvnni") != 0) {
    kernels.push_back(&avxvnni::kKernels);
  }
  if (has_avx2) {
    kernels.push_back(&avx2::kKernels);
  }
  return kernels;
}

}  // namespace bmad_mem::encoder

#endif
