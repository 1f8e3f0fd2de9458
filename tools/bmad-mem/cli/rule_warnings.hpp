// rule_warnings.hpp - what is wrong with the files of rules, for who writes or asks.
//
// To read the files costs 50 us a rule, which who only reads a memory needn't pay: so it isn't said
// when a memory is opened.
#pragma once

#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/privacy.hpp"

namespace bmad_mem::cli {

/// Calls `use(warning)` for each: a sentence with file and line.
template <typename Use>
void for_each_rule_warning(const MemoryManager& memory, const Use& use) {
  const Result<SecretScanner> scanner = memory.scanner();
  for (const Error& problem : scanner ? scanner->problems() : std::vector<Error>()) {
    use(problem.to_string());
  }
}

}  // namespace bmad_mem::cli
