// impact.hpp - what an entry that holds a term can count at most, in a byte, whatever the mean
// lengths are when somebody asks.
//
//   bits 0-2   the class of its length
//   bits 3-6   the class of the least of window length / mentions, over the windows that reach it
//   bit  7     whether one of these windows has more than one mention
//
// Classes are told by the least that is in them. BM25 grows with mentions and falls with length,
// and falls with length / mentions, so a score worked out from these is never below the true one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/slot_table.hpp"

namespace bmad_mem {

inline constexpr std::array<std::uint32_t, 8> kImpactLengths = {0, 6, 12, 20, 32, 48, 80, 160};
/// Window length by mentions.
inline constexpr std::array<std::uint32_t, 16> kImpactShares = {
    0, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 181, 256, 362, 512};

inline std::size_t impact_length_class(std::uint8_t impact) { return impact & 7U; }
inline std::size_t impact_share_class(std::uint8_t impact) { return impact >> 3U & 15U; }
inline bool impact_is_repeated(std::uint8_t impact) { return (impact & 0x80U) != 0; }

/// A byte for each of `postings`, which are of one session. `mentions` is scratch: a 0 for each
/// slot of the session or more, before and after.
void add_impacts(std::span<const SlotPosting> postings, const SlotView& slots,
                 std::vector<std::uint32_t>& mentions, std::vector<std::uint8_t>& out);

}  // namespace bmad_mem
