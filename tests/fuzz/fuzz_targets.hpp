// fuzz_targets.hpp - what must hold for any bytes at all: fuzz_NAME() of each row of targets.inc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::test {

#define BMAD_FUZZ(name, seeds, rounds, what) void fuzz_##name(std::string_view bytes);
#include "fuzz/targets.inc"
#undef BMAD_FUZZ

}  // namespace bmad_mem::test
