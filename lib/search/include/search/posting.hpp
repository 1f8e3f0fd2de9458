// posting.hpp - an entry that holds a key of the index.
#pragma once

#include <cstdint>

namespace bmad_mem {

/// An entry's position in the index of its session. Valid as long as that is not made anew.
using Ordinal = std::uint32_t;
inline constexpr Ordinal kNoOrdinal = ~Ordinal{0};

/// One entry that holds a key, and how often.
struct Posting {
  Ordinal ordinal = 0;
  std::uint32_t frequency = 1;

  bool operator==(const Posting&) const = default;
};

}  // namespace bmad_mem
