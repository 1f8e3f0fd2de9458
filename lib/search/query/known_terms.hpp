// known_terms.hpp - the terms of tokens met before: to stem one again takes 700 instructions, to
// remember it 100.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "search/analyzer.hpp"

namespace bmad_mem {

/// Of one analyzer. Threads: one object a thread.
class KnownTerms {
 public:
  /// As `analyzer.term(token, false)`; valid until the next call.
  std::string_view term(Analyzer& analyzer, std::string_view token) {
    const auto known = terms_.find(token);
    if (known != terms_.end()) {
      return known->second;
    }
    if (terms_.size() >= kCountMax) {
      terms_.clear();
    }
    return terms_.emplace(token, analyzer.term(token, false)).first->second;
  }

 private:
  /// Tokens are at most kTokenSizeMax bytes, so this is a megabyte at worst.
  static constexpr std::size_t kCountMax = 4096;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view token) const {
      return std::hash<std::string_view>()(token);
    }
  };
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> terms_;
};

}  // namespace bmad_mem
