// group_bounds.cpp - bounds the scores of groups of eight slots by the impacts of their postings.
#include "group_bounds.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace bmad_mem {
namespace {

/// For what floats round off.
constexpr double kFloatSlack = 1 + 1e-5;

float above(double value) { return static_cast<float>(value * kFloatSlack); }

/// The most a grain can give where length / mentions is `share` at least, and mentions are `most`
/// at most; 0: any.
double most_of(const GrainScore& grain, double share, double most) {
  return grain.weight * grain.k1_and_1 /
         (1 + (most == 0 ? 0 : grain.base / most) + grain.slope * share);
}

}  // namespace

GroupBounds::GroupBounds(const RankTotals& totals, const RankOptions& options)
    : totals_(totals),
      options_(options),
      question_factor_(above(options.question_weight / options.entry_weight)) {
  assert(options.entry_weight > 0);
  for (const TermScores& scores : totals.terms) {
    TermBound bound;
    for (std::uint32_t mentions = 1; mentions <= TermBound::kMentionsMax; ++mentions) {
      for (std::size_t i = 0; i < kImpactLengths.size(); ++i) {
        const auto most = [&](const GrainScore& grain) {
          return mentions == TermBound::kMentionsMax ? grain.most()
                                                     : grain.at(mentions, kImpactLengths[i]);
        };
        bound.entry[mentions][i] = above(std::max(most(scores.entry), most(scores.lone_entry)));
      }
    }
    for (std::size_t i = 0; i < kImpactShares.size() && options.window_weight > 0; ++i) {
      for (std::size_t mentions = 1; mentions <= kImpactMentionsMax; ++mentions) {
        const double most = mentions == kImpactMentionsMax ? 0 : static_cast<double>(mentions);
        bound.window[i][mentions] =
            above(std::max(most_of(scores.window, kImpactShares[i], most),
                           most_of(scores.lone_window, kImpactShares[i], most)));
      }
    }
    bounds_.push_back(bound);
  }
}

void GroupBounds::add_groups(const SessionTerms& terms, std::uint64_t length_sum,
                             std::uint32_t count, const RelevanceBound& bound, Scratch& scratch,
                             std::vector<BoundedGroup>& out) const {
  assert(terms.terms.size() <= bounds_.size());
  const std::uint32_t groups = (count + SlotGroup::kSize - 1) / SlotGroup::kSize;
  scratch.most.assign(groups + 2, 0);
  scratch.weights.assign(groups + 2, 0);
  for (std::size_t i = 0; i < terms.terms.size(); ++i) {
    if (!terms.terms[i].postings.empty()) {
      add_term(bounds_[i], terms.terms[i], scratch);
    }
  }
  const double beside = most_of_session(terms, length_sum);
  for (std::uint32_t i = 0; i < groups; ++i) {
    if (const float sum = scratch.most[i + 1]; sum > 0) {
      const double text = (static_cast<double>(sum) + beside) / totals_.full;
      const std::uint8_t weight = scratch.weights[i + 1];
      out.emplace_back(above(bound.most_of_weight(text, weight)), i, weight);
    }
  }
}

double GroupBounds::most_of_session(const SessionTerms& terms, std::uint64_t length_sum) const {
  double sum = 0;
  for (std::size_t i = 0; i < terms.terms.size() && options_.window_weight > 0; ++i) {
    if (const auto mentions = static_cast<double>(terms.terms[i].frequency_sum); mentions > 0) {
      sum += totals_.terms[i].session.at(mentions, static_cast<double>(length_sum));
    }
  }
  return sum;
}

std::uint8_t GroupBounds::slots_above(const SlotGroup& group, const SessionTerms& terms,
                                      std::uint64_t length_sum, const RelevanceBound& bound,
                                      double least) const {
  constexpr std::uint32_t kSize = SlotGroup::kSize;
  assert(terms.terms.size() <= bounds_.size());
  // With what reaches into it: slot `first` + i stands at i + kWindowReach.
  const std::uint32_t first = group.index * kSize;
  std::array<float, kSize> sums{};
  std::array<std::uint8_t, kSize> weights{};
  weights.fill(group.weight);
  for (std::size_t term = 0; term < terms.terms.size(); ++term) {
    const SessionPostings& postings = terms.terms[term];
    std::array<float, kSize + 2 * kWindowReach> entries{};
    std::array<float, kSize + 2 * kWindowReach> windows{};
    const auto begin = std::ranges::lower_bound(
        postings.postings, first - std::min(first, kWindowReach), {}, &SlotPosting::slot);
    for (auto at = begin; at != postings.postings.end() && at->slot < first + kSize + kWindowReach;
         ++at) {
      const Impact impact = postings.impacts[at - postings.postings.begin()];
      const std::uint32_t place = at->slot + kWindowReach - first;
      assert(place < entries.size());
      entries[place] = bounds_[term].entry_of(at->frequency, impact);
      windows[place] = bounds_[term].window_of(impact);
      // Of an entry beside it: who knows whether their windows meet?
      if (at->slot >= first && at->slot < first + kSize) {
        std::uint8_t& weight = weights[at->slot - first];
        weight = std::min(weight, static_cast<std::uint8_t>(impact_weight(impact)));
      }
    }
    for (std::uint32_t i = 0; i < kSize; ++i) {
      const float* const around = &windows[i];
      sums[i] += entries[i + kWindowReach] + question_factor_ * entries[i + kWindowReach - 1] +
                 *std::max_element(around, around + std::size_t{2} * kWindowReach + 1);
    }
  }
  const double beside = most_of_session(terms, length_sum);
  std::uint8_t above_least = 0;
  for (std::uint32_t i = 0; i < kSize; ++i) {
    const double text =
        (static_cast<double>(sums[i]) + beside) / totals_.full * (kFloatSlack * kFloatSlack);
    if (sums[i] > 0 && bound.most_of_weight(text, weights[i]) >= least) {
      above_least |= static_cast<std::uint8_t>(1U << i);
    }
  }
  return above_least;
}

void GroupBounds::add_term(const TermBound& bound, const SessionPostings& postings,
                           Scratch& scratch) const {
  assert(postings.impacts != nullptr);
  // Of the group before the one at hand, of that, and of the one behind.
  float before = 0;
  float here = 0;
  float behind = 0;
  std::uint32_t group = 0;
  std::uint32_t last_slot = 0;
  float last_entry = 0;
  float* const most = scratch.most.data();
  std::uint8_t* const weights = scratch.weights.data();
  for (std::size_t i = 0; i < postings.postings.size(); ++i) {
    const SlotPosting posting = postings.postings[i];
    assert(posting.slot / SlotGroup::kSize + 2 < scratch.most.size());
    assert((i == 0 || posting.slot > last_slot) && "postings ascend by slot");
    const Impact impact = postings.impacts[i];
    while (group < posting.slot / SlotGroup::kSize) {
      most[group] += before;
      before = here;
      here = behind;
      behind = 0;
      group = before + here > 0 ? group + 1 : posting.slot / SlotGroup::kSize;
    }
    const auto weigh =
        [weights, weight = static_cast<std::uint8_t>(impact_weight(impact))](std::uint32_t number) {
          weights[number] = std::max(weights[number], weight);
        };
    const float entry = bound.entry_of(posting.frequency, impact);
    const float window = bound.window_of(impact);
    const bool may_answer = posting.slot == last_slot + 1;
    here = std::max(here, entry + window + (may_answer ? question_factor_ * last_entry : 0));
    weigh(group + 1);
    const std::uint32_t place = posting.slot % SlotGroup::kSize;
    if (place < kWindowReach) {
      before = std::max(before, window);
      weigh(group);
    } else if (place + kWindowReach >= SlotGroup::kSize) {
      behind = std::max(behind, window + question_factor_ * entry);
      weigh(group + 2);
    }
    last_slot = posting.slot;
    last_entry = entry;
  }
  most[group] += before;
  most[group + 1] += here;
  most[group + 2] += behind;
}

}  // namespace bmad_mem
