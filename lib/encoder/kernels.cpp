#include "kernels.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel_body.hpp"

namespace bmad_mem::encoder {
namespace portable {
namespace {

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

}  // namespace
}  // namespace portable

const std::vector<const Kernels*>& kernels_here() {
  static const std::vector<const Kernels*> kAll = [] {
    std::vector<const Kernels*> kernels;
#if defined(__x86_64__) || defined(__aarch64__)
    kernels = kernels_of_processor();
#endif
    kernels.push_back(&portable::kKernels);
    return kernels;
  }();
  return kAll;
}

}  // namespace bmad_mem::encoder
