#if defined(__aarch64__)

#include <arm_neon.h>
#include <sys/auxv.h>

#include <cstddef>
#include <vector>

#include "kernel_body.hpp"
#include "kernels.hpp"

// As kernels_x86.cpp, with 4 outputs of four weights in a register.

namespace bmad_mem::encoder {
namespace {

/// The four bytes at `from`, repeated, less kByteZero.
BMAD_INLINE int8x16_t signed_quad_at(const std::uint8_t* from) {
  std::uint32_t quad = 0;
  std::memcpy(&quad, from, sizeof quad);
  const uint8x16_t bytes = vreinterpretq_u8_u32(vdupq_n_u32(quad));
  return vreinterpretq_s8_u8(veorq_u8(bytes, vdupq_n_u8(kByteZero)));
}

/// Of kLanes outputs a row and pass: 4 sums a row.
inline constexpr std::uint32_t kParts = kLanes / 4;

}  // namespace

namespace dot {
namespace {

#define BMAD_DOT [[gnu::target("arch=armv8.2-a+dotprod")]]

template <std::uint32_t kCount>
BMAD_DOT void add_rows(const Slice& slice, std::int32_t* sums) {
  for (std::uint32_t half = 0; half < kBlock; half += kLanes) {
    const std::int8_t* from = slice.weights + std::size_t{half} * slice.width;
    int32x4_t all[kCount][kParts];
    BMAD_UNROLLED
    for (std::uint32_t row = 0; row < kCount; ++row) {
      BMAD_UNROLLED
      for (std::uint32_t part = 0; part < kParts; ++part) {
        all[row][part] = vld1q_s32(sums + std::size_t{row} * kBlock + half + std::size_t{part} * 4);
      }
    }
    for (std::uint32_t at = 0; at < slice.inputs;
         at += kQuad, from += std::size_t{kLanes} * kQuad) {
      int8x16_t four[kParts];
      BMAD_UNROLLED
      for (std::uint32_t part = 0; part < kParts; ++part) {
        four[part] = vld1q_s8(from + std::size_t{part} * 16);
      }
      BMAD_UNROLLED
      for (std::uint32_t row = 0; row < kCount; ++row) {
        const int8x16_t quad = signed_quad_at(slice.bytes + std::size_t{row} * slice.width + at);
        BMAD_UNROLLED
        for (std::uint32_t part = 0; part < kParts; ++part) {
          all[row][part] = vdotq_s32(all[row][part], four[part], quad);
        }
      }
    }
    BMAD_UNROLLED
    for (std::uint32_t row = 0; row < kCount; ++row) {
      BMAD_UNROLLED
      for (std::uint32_t part = 0; part < kParts; ++part) {
        vst1q_s32(sums + std::size_t{row} * kBlock + half + std::size_t{part} * 4, all[row][part]);
      }
    }
  }
}

struct Isa {
  static constexpr std::uint32_t kRows = 5;  // 20 sums of the 32 registers.
  static constexpr std::uint32_t kRegisterFloats = 4;
  static constexpr bool kSubtractsZero = true;
  template <std::uint32_t kCount>
  static constexpr AddRows* kAdd = add_rows<kCount>;
};

BMAD_KERNELS("NEON with dot products", BMAD_DOT)

}  // namespace
}  // namespace dot

namespace neon {
namespace {

/// Pairs of products fit 16 bits: at most 2 * 127 * 127.
template <std::uint32_t kCount>
void add_rows(const Slice& slice, std::int32_t* sums) {
  for (std::uint32_t half = 0; half < kBlock; half += kLanes) {
    const std::int8_t* from = slice.weights + std::size_t{half} * slice.width;
    int32x4_t all[kCount][kParts];
    BMAD_UNROLLED
    for (std::uint32_t row = 0; row < kCount; ++row) {
      BMAD_UNROLLED
      for (std::uint32_t part = 0; part < kParts; ++part) {
        all[row][part] = vld1q_s32(sums + std::size_t{row} * kBlock + half + std::size_t{part} * 4);
      }
    }
    for (std::uint32_t at = 0; at < slice.inputs;
         at += kQuad, from += std::size_t{kLanes} * kQuad) {
      BMAD_UNROLLED
      for (std::uint32_t row = 0; row < kCount; ++row) {
        const int8x16_t quad = signed_quad_at(slice.bytes + std::size_t{row} * slice.width + at);
        BMAD_UNROLLED
        for (std::uint32_t part = 0; part < kParts; ++part) {
          const int8x16_t four = vld1q_s8(from + std::size_t{part} * 16);
          const int16x8_t low = vmull_s8(vget_low_s8(four), vget_low_s8(quad));
          const int16x8_t high = vmull_high_s8(four, quad);
          all[row][part] = vpadalq_s16(all[row][part], vpaddq_s16(low, high));
        }
      }
    }
    BMAD_UNROLLED
    for (std::uint32_t row = 0; row < kCount; ++row) {
      BMAD_UNROLLED
      for (std::uint32_t part = 0; part < kParts; ++part) {
        vst1q_s32(sums + std::size_t{row} * kBlock + half + std::size_t{part} * 4, all[row][part]);
      }
    }
  }
}

struct Isa {
  static constexpr std::uint32_t kRows = 4;
  static constexpr std::uint32_t kRegisterFloats = 4;
  static constexpr bool kSubtractsZero = true;
  template <std::uint32_t kCount>
  static constexpr AddRows* kAdd = add_rows<kCount>;
};

BMAD_KERNELS("NEON", )

}  // namespace
}  // namespace neon

std::vector<const Kernels*> kernels_of_processor() {
  std::vector<const Kernels*> kernels;
  if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) {
    kernels.push_back(&dot::kKernels);
  }
  kernels.push_back(&neon::kKernels);
  return kernels;
}

}  // namespace bmad_mem::encoder

#endif
