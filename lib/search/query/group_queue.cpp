#include "group_queue.hpp"

#include <algorithm>
#include <array>

namespace bmad_mem {

std::optional<SlotGroup> GroupQueue::next(double least) {
  if (ready_.empty()) {
    fill(static_cast<float>(std::max(least, 0.0)));
  }
  if (ready_.empty() || static_cast<double>(ready_.back().most) < least) {
    return std::nullopt;
  }
  const SlotGroup group = group_at(ready_.back());
  ready_.pop_back();
  return group;
}

/// The next batch: of those that were not given out yet and reach `least`.
void GroupQueue::fill(float least) {
  if (has_ceiling_ && ceiling_ <= least) {
    return;
  }
  float from = cutoff(least);
  take_from(from);
  if (ready_.empty() && from > least) {  // The cutoff was rounded up.
    from = least;
    take_from(from);
  }
  std::ranges::sort(ready_, {}, &Ready::most);
  ceiling_ = from;
  has_ceiling_ = true;
  // What the first batch has found leaves few behind it, mostly.
  batch_ = std::max(2 * batch_, std::size_t{4096});
}

void GroupQueue::take_from(float from) {
  for (std::uint32_t list = 0; list < lists_.size(); ++list) {
    const std::vector<BoundedGroup>& groups = lists_[list].groups;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].most() >= from && is_left(groups[i])) {
        ready_.push_back({.most = groups[i].most(), .list = list, .place = i});
      }
    }
  }
}

/// Some number of groups reach it, and one of the next batch is not below it.
float GroupQueue::cutoff(float least) const {
  std::size_t count = 0;
  float highest = least;
  const auto for_each_left = [&](const auto& use) {
    for (const GroupList& list : lists_) {
      for (const BoundedGroup& group : list.groups) {
        if (group.most() >= least && is_left(group)) {
          use(group.most());
        }
      }
    }
  };
  for_each_left([&](float most) {
    ++count;
    // What nothing is known of is in the first batch.
    highest = most < std::numeric_limits<float>::infinity() ? std::max(highest, most) : highest;
  });
  constexpr std::size_t kBins = 512;
  const float width = (highest - least) / kBins;
  if (count <= batch_ || width <= 0) {
    return least;
  }
  std::array<std::size_t, kBins> bins{};
  for_each_left([&](float most) {
    const float bin = (std::min(most, highest) - least) / width;
    ++bins[std::min(static_cast<std::size_t>(bin), kBins - 1)];
  });
  std::size_t bin = kBins;
  for (std::size_t above = 0; bin > 0 && above < batch_;) {
    above += bins[--bin];
  }
  return least + static_cast<float>(bin) * width;
}

SlotGroup GroupQueue::group_at(const Ready& ready) const {
  const GroupList& list = lists_[ready.list];
  const BoundedGroup& group = list.groups[ready.place];
  const auto behind =
      std::ranges::upper_bound(list.sessions, ready.place, {}, &GroupList::Session::begin);
  return {.session = std::prev(behind)->number,
          .index = group.index(),
          .wanted = list.wanted.empty() ? std::uint8_t{0xFF} : list.wanted[ready.place],
          .weight = group.weight()};
}

}  // namespace bmad_mem
