// libfuzzer_target.hpp - BMAD_FUZZ_TARGET(name): the two functions that libFuzzer calls, for
// fuzz_name() of fuzz_targets.hpp with the seeds of fuzz_seeds.hpp.
//
// The seeds come in as mutations, because a corpus folder would have to be named at each start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fuzz/fuzz_seeds.hpp"
#include "fuzz/fuzz_targets.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes.
#define BMAD_FUZZ_TARGET(name)                                                            \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {     \
    bmad_mem::test::fuzz_##name({reinterpret_cast<const char*>(data), size});             \
    return 0;                                                                             \
  }                                                                                       \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,    \
                                                 std::size_t size_max, unsigned chance) { \
    const auto& seeds = bmad_mem::test::name##_seeds();                                   \
    if (chance % 64 == 0) {                                                               \
      const std::string& seed = seeds[chance / 64 % seeds.size()];                        \
      size = std::min(seed.size(), size_max);                                             \
      std::memcpy(data, seed.data(), size);                                               \
    }                                                                                     \
    return LLVMFuzzerMutate(data, size, size_max);                                        \
  }
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
