#include "group_bounds.hpp"

#include <algorithm>

#include "index/impact.hpp"

namespace bmad_mem {
namespace {

/// For what floats round off.
constexpr double kFloatSlack = 1 + 1e-5;

float above(double value) { return static_cast<float>(value * kFloatSlack); }

/// The most a grain can give where length / mentions is `share` at least. At most one mention is in
/// it, unless it `is_repeated`.
double most_of(const GrainScore& grain, double share, bool is_repeated) {
  return grain.weight * grain.k1_and_1 / (1 + (is_repeated ? 0 : grain.base) + grain.slope * share);
}

}  // namespace

GroupBounds::GroupBounds(const RankTotals& totals, const RankOptions& options)
    : totals_(totals),
      options_(options),
      question_factor_(above(options.question_weight / options.entry_weight)) {
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
      for (const bool is_repeated : {false, true}) {
        bound.window[i][is_repeated ? 1 : 0] =
            above(std::max(most_of(scores.window, kImpactShares[i], is_repeated),
                           most_of(scores.lone_window, kImpactShares[i], is_repeated)));
      }
    }
    bounds_.push_back(bound);
  }
}

void GroupBounds::add_groups(std::uint32_t number, const SessionTerms& terms,
                             std::uint64_t length_sum, std::uint32_t count,
                             std::vector<float>& most, std::vector<SlotGroup>& out) const {
  const std::uint32_t groups = (count + SlotGroup::kSize - 1) / SlotGroup::kSize;
  most.assign(groups + 2, 0);
  double beside = 0;
  for (std::size_t i = 0; i < terms.terms.size(); ++i) {
    const SessionPostings& postings = terms.terms[i];
    if (postings.postings.empty()) {
      continue;
    }
    add_term(bounds_[i], postings, most.data());
    if (options_.window_weight > 0) {
      beside += totals_.terms[i].session.at(static_cast<double>(postings.frequency_sum),
                                            static_cast<double>(length_sum));
    }
  }
  for (std::uint32_t i = 0; i < groups; ++i) {
    if (const float sum = most[i + 1]; sum > 0) {
      out.push_back({.most = above((static_cast<double>(sum) + beside) / totals_.full),
                     .session = number,
                     .index = i});
    }
  }
}

void GroupBounds::add_term(const TermBound& bound, const SessionPostings& postings,
                           float* most) const {
  // Of the group before the one at hand, of that, and of the one behind.
  float before = 0;
  float here = 0;
  float behind = 0;
  std::uint32_t group = 0;
  std::uint32_t last_slot = 0;
  float last_entry = 0;
  for (std::size_t i = 0; i < postings.postings.size(); ++i) {
    const SlotPosting posting = postings.postings[i];
    const std::uint8_t impact = postings.impacts[i];
    while (group < posting.slot / SlotGroup::kSize) {
      most[group] += before;
      before = here;
      here = behind;
      behind = 0;
      group = before + here > 0 ? group + 1 : posting.slot / SlotGroup::kSize;
    }
    const float entry = bound.entry[std::min(posting.frequency, TermBound::kMentionsMax)]
                                   [impact_length_class(impact)];
    const float window =
        bound.window[impact_share_class(impact)][impact_is_repeated(impact) ? 1 : 0];
    const bool may_answer = posting.slot == last_slot + 1;
    here = std::max(here, entry + window + (may_answer ? question_factor_ * last_entry : 0));
    const std::uint32_t place = posting.slot % SlotGroup::kSize;
    if (place < kWindowReach) {
      before = std::max(before, window);
    } else if (place + kWindowReach >= SlotGroup::kSize) {
      behind = std::max(behind, window + question_factor_ * entry);
    }
    last_slot = posting.slot;
    last_entry = entry;
  }
  most[group] += before;
  most[group + 1] += here;
  most[group + 2] += behind;
}

}  // namespace bmad_mem
