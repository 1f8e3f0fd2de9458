// must.hpp - a condition of a fuzz target: unlike assert, also when asserts are off.
#pragma once

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace bmad_mem::test {

inline void must(bool holds, std::string_view what, std::string_view why = {},
                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!holds) {
    fmt::print(stderr, "{}:{}: does not hold: {} {}\n", file, line, what, why);
    std::abort();
  }
}

}  // namespace bmad_mem::test
