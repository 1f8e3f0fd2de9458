// merge_plan.hpp - which items say nearly the same, and which of them stays.
//
// Items come best first: the surest, then the most trusted, then the newest. Each joins the most
// like of those that stay, or stays itself. Those that stay are found by their rarest shingles: two
// sets that share a part t of theirs must share one of the first n - ceil(t n) + 1, in any order
// that is the same for both (Chaudhuri et al. 2006, prefix filter). So the work is near linear.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

/// How many of those that stay are looked at for one shingle, the best first. Where more have it,
/// it is a phrase that everybody uses. 10,000 items that differ in a number only take 1.5 s so, 4.4
/// s with 64, and would take minutes without a bound.
inline constexpr std::size_t kMergeListMax = 16;

/// What can be merged among `items`, in the order of those that stay. Only items of the same
/// category and agent, on the same side of kLowTrust, whose likeness is `min_similarity` (above 0,
/// at most 1) or more, that may not contradict each other, and that nobody has dropped or has yet
/// to accept. Deterministic, whatever the order of `items`.
std::vector<MergeProposal> plan_merges(std::span<const KnowledgeItem> items, double min_similarity);

}  // namespace bmad_mem
