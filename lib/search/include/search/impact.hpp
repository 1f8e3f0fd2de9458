// impact.hpp - what an entry that holds a term can count at most, in two bytes, whatever the mean
// lengths are when somebody asks.
//
//   bits 0-4    the class of its length
//   bits 5-10   the class of the least of window length / mentions, over the windows it counts in
//   bits 11-13  the most mentions in one of these windows; 7 stands for more, too
//   bits 14-15  the greatest weight of the entries of these windows: how important they can be
//
// Classes are told by the least that is in them. BM25 grows with mentions and falls with length,
// and falls with length / mentions, so a score worked out from these is never below the true one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/slot_table.hpp"

namespace bmad_mem {

using Impact = std::uint16_t;

/// 0, 1, 2 and so on, then each a `part` above the one before.
template <std::size_t kCount>
constexpr std::array<std::uint32_t, kCount> impact_classes(std::uint32_t part) {
  std::array<std::uint32_t, kCount> least{};
  for (std::size_t i = 1; i < kCount; ++i) {
    least[i] = least[i - 1] + std::max(std::uint32_t{1}, least[i - 1] / part);
  }
  return least;
}

inline constexpr auto kImpactLengths = impact_classes<32>(5);
/// Window length by mentions.
inline constexpr auto kImpactShares = impact_classes<64>(8);
inline constexpr std::size_t kImpactMentionsMax = 7;

constexpr std::size_t impact_length_class(Impact impact) { return impact & 31U; }
constexpr std::size_t impact_share_class(Impact impact) { return impact >> 5U & 63U; }
constexpr std::size_t impact_mentions(Impact impact) { return impact >> 11U & 7U; }
constexpr std::size_t impact_weight(Impact impact) { return impact >> 14U; }

/// The weight of an entry with these flags: 0 to 2 by its importance, 3 where more than that
/// decides.
inline constexpr std::size_t kWeightCount = 4;
std::size_t weight_of(std::uint32_t flags);

/// Appends one for each of `postings`, which are of one session. `mentions` is scratch: zeros.
void add_impacts(std::span<const SlotPosting> postings, const SlotView& slots,
                 std::vector<std::uint32_t>& mentions, std::vector<Impact>& out);

}  // namespace bmad_mem
