#if defined(__x86_64__)

#include <immintrin.h>

#include <vector>

#include "kernel_body.hpp"
#include "kernels.hpp"

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

struct Isa {
  static constexpr std::uint32_t kRows = 12;
  static constexpr std::uint32_t kRegisterFloats = 16;
  static constexpr bool kSubtractsZero = false;
  static constexpr std::uint32_t kParts = 2;
  using Sums = __m512i;
  using Weights = __m512i;

  BMAD_AVX512 [[gnu::always_inline]] static Weights repeated_quad(const std::uint8_t* bytes) {
    return _mm512_set1_epi32(quad_at(bytes));
  }
  BMAD_AVX512 [[gnu::always_inline]] static Sums with_products(Sums sums, Weights quad,
                                                               Weights weights) {
    return _mm512_dpbusd_epi32(sums, quad, weights);
  }
  BMAD_ADD_ROWS(BMAD_AVX512)
};

BMAD_KERNELS("AVX-512 VNNI", BMAD_AVX512)

}  // namespace
}  // namespace avx512

// Half a block after the other: 12 sums and what goes in fill the 16 registers.

namespace avxvnni {
namespace {

#define BMAD_AVXVNNI [[gnu::target("avx2,avxvnni")]]

struct Isa {
  static constexpr std::uint32_t kRows = 6;
  static constexpr std::uint32_t kRegisterFloats = 8;
  static constexpr bool kSubtractsZero = false;
  static constexpr std::uint32_t kParts = 2;
  using Sums = __m256i;
  using Weights = __m256i;

  BMAD_AVXVNNI [[gnu::always_inline]] static Weights repeated_quad(const std::uint8_t* bytes) {
    return _mm256_set1_epi32(quad_at(bytes));
  }
  BMAD_AVXVNNI [[gnu::always_inline]] static Sums with_products(Sums sums, Weights quad,
                                                                Weights weights) {
    return _mm256_dpbusd_avx_epi32(sums, quad, weights);
  }
  BMAD_ADD_ROWS(BMAD_AVXVNNI)
};

BMAD_KERNELS("AVX-VNNI", BMAD_AVXVNNI)

}  // namespace
}  // namespace avxvnni

namespace avx2 {
namespace {

#define BMAD_AVX2 [[gnu::target("avx2")]]

struct Isa {
  static constexpr std::uint32_t kRows = 6;
  static constexpr std::uint32_t kRegisterFloats = 8;
  static constexpr bool kSubtractsZero = true;
  static constexpr std::uint32_t kParts = 2;
  using Sums = __m256i;
  using Weights = __m256i;

  BMAD_AVX2 [[gnu::always_inline]] static Weights repeated_quad(const std::uint8_t* bytes) {
    return _mm256_xor_si256(_mm256_set1_epi32(quad_at(bytes)),
                            _mm256_set1_epi8(static_cast<char>(kByteZero)));
  }
  /// Without a dot product of its own: bytes with a sign, whose sizes multiply with the weights
  /// that took the sign. Two products are at most 2 * 127 * 127, so that 16 bits hold them.
  BMAD_AVX2 [[gnu::always_inline]] static Sums with_products(Sums sums, Weights quad,
                                                             Weights weights) {
    const __m256i products =
        _mm256_maddubs_epi16(_mm256_abs_epi8(quad), _mm256_sign_epi8(weights, quad));
    return _mm256_add_epi32(sums, _mm256_madd_epi16(products, _mm256_set1_epi16(1)));
  }
  BMAD_ADD_ROWS(BMAD_AVX2)
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
