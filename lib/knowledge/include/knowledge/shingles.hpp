// shingles.hpp - how much two statements have in common, and whether they deny each other.
//
//   "Always use tabs."  ->  words  always use tabs  ->  pieces of 5 characters: "alway" "lways" …
//
// Pieces are hashed with XXH3; likeness is Jaccard's: shared pieces by all pieces. Statements of
// more than kCharacterWordsMax words are cut into runs of 3 words instead: in a short text one
// other word would already change a third of those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

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
