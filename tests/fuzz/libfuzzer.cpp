// libfuzzer.cpp - what libFuzzer calls, for the target that $BMAD_FUZZ_TARGET names.
//
// The seeds come in as mutations, because a corpus folder would have to be named at each start. The
// tests call the same functions, so that they are built and run where there is no libFuzzer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "fuzz/fuzz_seeds.hpp"
#include "fuzz/fuzz_targets.hpp"
#include "fuzz/must.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

namespace bmad_mem::test {
namespace {

struct FuzzTarget {
  std::string_view name;
  void (*run)(std::string_view);
  const std::vector<std::string>& (*seeds)();
};

#define BMAD_FUZZ(name, seeds, rounds, what) {#name, fuzz_##name, seeds},
constexpr FuzzTarget kTargets[] = {
#include "fuzz/targets.inc"
};
#undef BMAD_FUZZ

const FuzzTarget& target() {
  static const FuzzTarget& chosen = [] -> const FuzzTarget& {
    const char* name = std::getenv("BMAD_FUZZ_TARGET");  // NOLINT(concurrency-mt-unsafe)
    const auto* const found = std::ranges::find(
        kTargets, std::string_view(name != nullptr ? name : ""), &FuzzTarget::name);
    must(found != std::end(kTargets), "BMAD_FUZZ_TARGET names a row of targets.inc");
    return *found;
  }();
  return chosen;
}

}  // namespace
}  // namespace bmad_mem::test

// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bmad_mem::test::target().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned chance) {
  const std::vector<std::string>& seeds = bmad_mem::test::target().seeds();
  if (chance % 64 == 0) {
    const std::string& seed = seeds[chance / 64 % seeds.size()];
    size = std::min(seed.size(), size_max);
    std::memcpy(data, seed.data(), size);
  }
  return LLVMFuzzerMutate(data, size, size_max);
}
