#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernel_body.hpp"

namespace bmad_mem::encoder {
namespace portable {
namespace {

struct Isa {
  static constexpr std::uint32_t kRows = 4;
  static constexpr bool kSubtractsZero = false;

  static void sum(const std::uint8_t* bytes, std::uint32_t width, std::uint32_t count,
                  const std::int8_t* weights, std::int32_t* sums) {
    constexpr std::uint32_t kStep = kLanes * kQuad;
    for (std::uint32_t row = 0; row < count; ++row, bytes += width, sums += kBlock) {
      for (std::uint32_t half = 0; half < kBlock / kLanes; ++half) {
        const std::int8_t* quads = weights + std::size_t{half} * kLanes * width;
        std::array<std::int32_t, kLanes> lanes{};
        for (std::uint32_t at = 0; at < width; at += kQuad, quads += kStep) {
          for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
            for (std::uint32_t input = 0; input < kQuad; ++input) {
              lanes[lane] += quads[lane * kQuad + input] * bytes[at + input];
            }
          }
        }
        std::ranges::copy(lanes, sums + std::size_t{half} * kLanes);
      }
    }
  }
};

BMAD_KERNELS("portable", )

}  // namespace
}  // namespace portable

const std::vector<const Kernels*>& kernels_here() {
  static const std::vector<const Kernels*> all = [] {
    std::vector<const Kernels*> kernels;
#if defined(__x86_64__) || defined(__aarch64__)
    kernels = kernels_of_processor();
#endif
    kernels.push_back(&portable::kKernels);
    return kernels;
  }();
  return all;
}

}  // namespace bmad_mem::encoder
