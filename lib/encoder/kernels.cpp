// kernels.cpp - the kernels for any processor, and the list of those that run on this one.
#include "kernels.hpp"

#include <array>
#include <cstddef>

#include "kernel_body.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

namespace bmad_mem::encoder {
namespace {

namespace portable {

struct Isa {
  static constexpr std::uint32_t kRows = 4;
  static constexpr std::uint32_t kRegisterFloats = 4;
  static constexpr bool kSubtractsZero = false;

  template <std::uint32_t kCount>
  static void add_rows(const Slice& slice, std::int32_t* sums) {
    for (std::uint32_t row = 0; row < kCount; ++row) {
      const std::uint8_t* bytes = slice.bytes + std::size_t{row} * slice.width;
      for (std::uint32_t half = 0; half < kBlock; half += kLanes, sums += kLanes) {
        const std::int8_t* weights = slice.weights + std::size_t{half} * slice.width;
        std::array<std::int32_t, kLanes> lanes{};
        for (std::uint32_t at = 0; at < slice.inputs; at += kQuad) {
          for (std::uint32_t lane = 0; lane < kLanes; ++lane, weights += kQuad) {
            for (std::uint32_t input = 0; input < kQuad; ++input) {
              lanes[lane] += weights[input] * bytes[at + input];
            }
          }
        }
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
          sums[lane] += lanes[lane];
        }
      }
    }
  }
};

BMAD_KERNELS("portable", )

}  // namespace portable

#if defined(__x86_64__)
/// The four bytes at `from`.
BMAD_INLINE int quad_at(const std::uint8_t* from) {
  int quad = 0;
  std::memcpy(&quad, from, sizeof quad);
  return quad;
}

namespace avx512 {

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

}  // namespace avx512

/// Half a block after the other: 12 sums and what goes in fill the 16 registers.
struct HalfRegisters {
  static constexpr std::uint32_t kRows = 6;
  static constexpr std::uint32_t kRegisterFloats = 8;
  static constexpr std::uint32_t kParts = 2;
  using Sums = __m256i;
  using Weights = __m256i;
};

namespace avxvnni {

#define BMAD_AVXVNNI [[gnu::target("avx2,avxvnni")]]

struct Isa : HalfRegisters {
  static constexpr bool kSubtractsZero = false;

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

}  // namespace avxvnni

namespace avx2 {

#define BMAD_AVX2 [[gnu::target("avx2")]]

struct Isa : HalfRegisters {
  static constexpr bool kSubtractsZero = true;

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

}  // namespace avx2
#elif defined(__aarch64__)
/// What both kinds share: 4 outputs of four weights in a register, kLanes outputs in a pass.
struct NeonRegisters {
  static constexpr std::uint32_t kRegisterFloats = 4;
  static constexpr bool kSubtractsZero = true;
  static constexpr std::uint32_t kParts = kLanes / kRegisterFloats;
  using Sums = int32x4_t;
  using Weights = int8x16_t;

  [[gnu::always_inline]] static Weights repeated_quad(const std::uint8_t* bytes) {
    std::uint32_t quad = 0;
    std::memcpy(&quad, bytes, sizeof quad);
    const uint8x16_t repeated = vreinterpretq_u8_u32(vdupq_n_u32(quad));
    return vreinterpretq_s8_u8(veorq_u8(repeated, vdupq_n_u8(kByteZero)));
  }
};

namespace dot {

#define BMAD_DOT [[gnu::target("arch=armv8.2-a+dotprod")]]

struct Isa : NeonRegisters {
  static constexpr std::uint32_t kRows = 5;  // 20 sums of the 32 registers.

  BMAD_DOT [[gnu::always_inline]] static Sums with_products(Sums sums, Weights quad,
                                                            Weights weights) {
    return vdotq_s32(sums, weights, quad);
  }
  BMAD_ADD_ROWS(BMAD_DOT)
};

BMAD_KERNELS("NEON with dot products", BMAD_DOT)

}  // namespace dot

namespace neon {

struct Isa : NeonRegisters {
  static constexpr std::uint32_t kRows = 4;

  /// Pairs of products fit 16 bits: at most 2 * 127 * 127.
  [[gnu::always_inline]] static Sums with_products(Sums sums, Weights quad, Weights weights) {
    const int16x8_t low = vmull_s8(vget_low_s8(weights), vget_low_s8(quad));
    const int16x8_t high = vmull_high_s8(weights, quad);
    return vpadalq_s16(sums, vpaddq_s16(low, high));
  }
  BMAD_ADD_ROWS()
};

BMAD_KERNELS("NEON", )

}  // namespace neon
#endif

}  // namespace

const std::vector<const Kernels*>& kernels_here() {
  static const std::vector<const Kernels*> kAll = [] {
    std::vector<const Kernels*> kernels;
#if defined(__x86_64__)
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
#elif defined(__aarch64__)
    if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) {
      kernels.push_back(&dot::kKernels);
    }
    kernels.push_back(&neon::kKernels);
#endif
    kernels.push_back(&portable::kKernels);
    return kernels;
  }();
  return kAll;
}

}  // namespace bmad_mem::encoder
