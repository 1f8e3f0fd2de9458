// line_comparison.cpp - how the lines of a log differ from those that were recorded.
#include <algorithm>
#include <cassert>
#include <limits>

#include "store/line_hashes.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

/// For each line the place of its equal in `recorded`, or kNowhere. Equal ones pair up in order.
std::vector<std::size_t> places_in(std::span<const std::uint32_t> recorded,
                                   std::span<const std::uint32_t> lines) {
  const auto sorted_places = [](std::span<const std::uint32_t> hashes) {
    std::vector<std::size_t> places(hashes.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] = i;
    }
    std::ranges::stable_sort(places, {}, [&](std::size_t i) { return hashes[i]; });
    return places;
  };
  const std::vector<std::size_t> left = sorted_places(recorded);
  const std::vector<std::size_t> right = sorted_places(lines);
  std::vector<std::size_t> places(lines.size(), kNowhere);
  for (std::size_t i = 0, k = 0; i < left.size() && k < right.size();) {
    const std::uint32_t a = recorded[left[i]];
    const std::uint32_t b = lines[right[k]];
    if (a == b) {
      places[right[k]] = left[i];
    }
    i += a <= b ? 1 : 0;
    k += b <= a ? 1 : 0;
  }
  return places;
}

/// Takes out of `places` what breaks the order: all but a longest rising run. Returns which.
std::vector<bool> out_of_order(const std::vector<std::size_t>& places) {
  std::vector<std::size_t> ends;  // By length - 1: the line that ends the lowest run so long.
  std::vector<std::size_t> before(places.size(), kNowhere);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] == kNowhere) {
      continue;
    }
    const auto at = std::ranges::lower_bound(ends, places[i], {},
                                             [&](std::size_t line) { return places[line]; });
    before[i] = at == ends.begin() ? kNowhere : *(at - 1);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<bool> moved(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    moved[i] = places[i] != kNowhere;
  }
  for (std::size_t i = ends.empty() ? kNowhere : ends.back(); i != kNowhere; i = before[i]) {
    moved[i] = false;
  }
  return moved;
}

class LineComparison {
 public:
  LineComparison(std::span<const std::uint32_t> recorded, std::span<const std::uint32_t> lines)
      : recorded_(recorded), lines_(lines), places_(places_in(recorded, lines)) {}

  std::vector<LineDifference> run() {
    const std::vector<bool> moved = out_of_order(places_);
    std::vector<bool> is_there(recorded_.size());
    for (const std::size_t place : places_) {
      if (place != kNowhere) {
        assert(place < is_there.size());
        is_there[place] = true;
      }
    }
    std::size_t next = 0;  // In `recorded_`: what comes behind the lines seen so far.
    std::vector<std::size_t> strangers;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (moved[i]) {
        note(LineFate::kMoved, i + 1, 1);
      } else if (places_[i] == kNowhere) {
        strangers.push_back(i);
      } else {
        assert(next <= places_[i] && "the lines that break the order are removed");
        settle_gap(lost_between(is_there, next, places_[i]), strangers, i);
        next = places_[i] + 1;
      }
    }
    const std::uint64_t lost = lost_between(is_there, next, recorded_.size());
    while (strangers.size() > lost) {  // Those behind are new.
      new_lines_ += strangers.back() + new_lines_ + 1 == lines_.size() ? 1 : 0;
      strangers.pop_back();
    }
    settle_gap(lost, strangers, lines_.size());
    return std::move(differences_);
  }

  [[nodiscard]] std::size_t new_lines() const { return new_lines_; }

 private:
  static std::uint64_t lost_between(const std::vector<bool>& is_there, std::size_t begin,
                                    std::size_t end) {
    assert(end <= is_there.size());
    std::uint64_t lost = 0;
    for (std::size_t i = begin; i < end; ++i) {
      lost += is_there[i] ? 0 : 1;
    }
    return lost;
  }

  /// Between two lines that are as recorded: `lost` lines are gone and `strangers` have come.
  void settle_gap(std::uint64_t lost, std::vector<std::size_t>& strangers, std::size_t end) {
    for (const std::size_t line : strangers) {
      if (lost > 0) {
        note(LineFate::kChanged, line + 1, 1);
        --lost;
      } else {
        note(is_double(line) ? LineFate::kDoubled : LineFate::kAdded, line + 1, 1);
      }
    }
    strangers.clear();
    if (lost > 0) {
      note(LineFate::kLost, end, lost);
    }
  }

  [[nodiscard]] bool is_double(std::size_t line) {
    if (sorted_.empty()) {
      sorted_.assign(recorded_.begin(), recorded_.end());
      std::ranges::sort(sorted_);
    }
    return std::ranges::binary_search(sorted_, lines_[line]);
  }

  void note(LineFate change, std::uint64_t line, std::uint64_t count) {
    assert(count > 0);
    if (change != LineFate::kLost && !differences_.empty() &&
        differences_.back().change == change &&
        differences_.back().line + differences_.back().count == line) {
      differences_.back().count += count;
      return;
    }
    differences_.push_back({.change = change, .line = line, .count = count});
  }

  std::span<const std::uint32_t> recorded_;
  std::span<const std::uint32_t> lines_;
  std::vector<std::size_t> places_;
  std::vector<std::uint32_t> sorted_;  // `recorded_`, once it is asked for.
  std::vector<LineDifference> differences_;
  std::size_t new_lines_ = 0;
};

}  // namespace

std::vector<LineDifference> compare_lines(std::span<const std::uint32_t> recorded,
                                          std::span<const std::uint32_t> lines) {
  if (begin_with(lines, recorded)) {
    return {};
  }
  return LineComparison(recorded, lines).run();
}

bool begin_with(std::span<const std::uint32_t> lines, std::span<const std::uint32_t> front) {
  return front.size() <= lines.size() && std::ranges::equal(lines.first(front.size()), front);
}

std::size_t count_new_lines(std::span<const std::uint32_t> recorded,
                            std::span<const std::uint32_t> lines) {
  LineComparison comparison(recorded, lines);
  comparison.run();
  assert(comparison.new_lines() <= lines.size());
  return comparison.new_lines();
}

}  // namespace bmad_mem
