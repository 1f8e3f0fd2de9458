// merge_plan.hpp - which items say nearly the same, and which of them stays.
//
// Items come best first: the surest, then the most trusted, then the newest. Each joins the most
// like of those that stay, or stays itself. Those that stay are found by their rarest shingles: two
// sets that share a part t of theirs must share one of the first n - ceil(t n) + 1, in any order
// that is the same for both (Chaudhuri et al. 2006, prefix filter). So the work is near linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

/// How many of those that stay are looked at for one shingle, the best first. Where more have it,
/// it is a phrase that everybody uses. 10,000 items that differ in a number only take 1.5 s so, 4.4
/// s with 64, and would take minutes without a bound.
inline constexpr std::size_t kMergeListMax = 16;

/// What can be merged among `items`, in the order of those that stay. Only items of the same
/// category and agent, on the same side of kLowReliability, whose likeness is `min_similarity`
/// (above 0, at most 1) or more, that may not contradict each other, and that nobody has dropped or
/// has yet to accept. Deterministic, whatever the order of `items`.
std::vector<MergeProposal> plan_merges(std::span<const KnowledgeItem> items, double min_similarity);

/// How many pairs near_statements() gives.
inline constexpr std::size_t kNearPairsMax = 20;

/// Whether a value says by itself what it is about: "4" does not, whatever its key is.
bool is_sentence(const KnowledgeItem& item);

/// The pairs of the same category and agent, on the same side of kLowReliability, that are near by
/// `vectors`, and whose likeness is below `min_similarity`: others have been judged by their words.
/// `vectors`: row-major, of the same size and of length 1 for each of `items`. Ordered as in
/// ConsolidateReport; deterministic, whatever the order of `items`. Cost: items^2 x size.
std::vector<NearStatements> near_statements(std::span<const KnowledgeItem> items,
                                            std::span<const float> vectors, double min_similarity);

// How much two statements have in common, and whether they deny each other.
//
//   "Always use tabs."  ->  words  always use tabs  ->  pieces of 5 characters: "alway" "lways" …
//
// Pieces are hashed with XXH3; likeness is Jaccard's: shared pieces by all pieces. Statements of
// more than kCharacterWordsMax words are cut into runs of 3 words instead: in a short text one
// other word would already change a third of those.

/// Up to so many words, a text is cut into characters: facts have 40 at most. Texts on the two
/// sides of it have nothing in common.
inline constexpr std::size_t kCharacterWordsMax = 64;

/// The words of `text`: lower case, letters, digits and what holds them together ("don't", "v1.2",
/// "src/auth.ts"), without punctuation around them.
std::vector<std::string> plain_words(std::string_view text);

/// Hashes of the pieces of `words`, sorted, each once. Empty only without words.
using Shingles = std::vector<std::uint64_t>;
Shingles shingles_of(const std::vector<std::string>& words);
Shingles shingles_of(std::string_view text);

/// 0 to 1; 0 when either is empty.
double shingle_similarity(const Shingles& a, const Shingles& b);

/// Whether two statements in nearly the same words may say different things: another number, a
/// negation or its opposite in one only ("enable", "disable"), words of weight in the place of as
/// many others ("staging", "production"), or the same words in another order around "over",
/// "before" and their like. Rather says so once too often: what is not merged is not lost.
bool may_contradict(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace bmad_mem
