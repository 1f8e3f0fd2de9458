// impact.cpp - computes the impacts of postings when a segment is written.
#include "search/impact.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace bmad_mem {
namespace {

template <std::size_t kCount>
std::uint32_t class_of(const std::array<std::uint32_t, kCount>& least, std::uint32_t value) {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(least, value) - least.begin() - 1);
}

}  // namespace

std::size_t weight_of(std::uint32_t flags) {
  constexpr double kUsual = 0.5;
  constexpr double kRaised = 0.75;
  if ((flags & (kFlagPinned | kFlagOdd)) != 0) {
    return 3;
  }
  const double importance = flag_importance(flags);
  return importance <= kUsual ? 0 : importance <= kRaised ? 1 : 2;
}

void add_impacts(std::span<const SlotPosting> postings, const SlotView& slots,
                 std::vector<std::uint32_t>& mentions, std::vector<Impact>& out) {
  if (mentions.size() < slots.size()) {
    mentions.resize(slots.size());
  }
  const auto for_windows = [&](const SlotPosting& posting, const auto& work) {
    const WindowReach around = slots.reach[posting.slot];
    for (std::uint32_t at = posting.slot - around.before; at <= posting.slot + around.after; ++at) {
      work(at);
    }
  };
  for (const SlotPosting& posting : postings) {
    for_windows(posting, [&](std::uint32_t at) { mentions[at] += posting.frequency; });
  }
  for (const SlotPosting& posting : postings) {
    std::uint32_t most = 0;
    std::size_t weight = 0;
    std::uint32_t least_share = std::numeric_limits<std::uint32_t>::max();
    for_windows(posting, [&](std::uint32_t at) {
      most = std::max(most, mentions[at]);
      assert(mentions[at] > 0 && "its own posting is in it");
      least_share = std::min(least_share, slots.window_lengths[at] / mentions[at]);
      weight = std::max(weight, weight_of(slots.flags[at]));
    });
    most = std::min(most, static_cast<std::uint32_t>(kImpactMentionsMax));
    assert(weight < kWeightCount);
    out.push_back(static_cast<Impact>(class_of(kImpactLengths, slots.lengths[posting.slot]) |
                                      class_of(kImpactShares, least_share) << 5U | most << 11U |
                                      static_cast<std::uint32_t>(weight) << 14U));
  }
  for (const SlotPosting& posting : postings) {
    for_windows(posting, [&](std::uint32_t at) { mentions[at] = 0; });
  }
}

}  // namespace bmad_mem
