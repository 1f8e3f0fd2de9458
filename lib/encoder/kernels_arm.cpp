#if defined(__aarch64__)

#include <arm_neon.h>
#include <sys/auxv.h>

#include <vector>

#include "kernel_body.hpp"
#include "kernels.hpp"

namespace bmad_mem::encoder {
namespace {

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

}  // namespace

namespace dot {
namespace {

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

}  // namespace
}  // namespace dot

namespace neon {
namespace {

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
