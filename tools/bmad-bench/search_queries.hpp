// search_queries.hpp - what is asked: the words of the corpus, by how many entries hold them.
//
// A query has 1 to 5 words. A word is drawn as often as entries hold it, so that words that many
// use are asked for most, and by Zipf's law there are always rare ones among them: some queries
// have a handful of matches, and others a third of all entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bmad_mem::bench {

/// `text` with identifiers in parts, since ours finds them by their parts and others don't:
/// "getUserById user_id" becomes "get User By Id user id".
std::string text_for_others(std::string_view text);

/// The words of a text that every tokenizer agrees upon: ASCII letters between blanks and marks, 3
/// to 16 of them, lower case, no function word of English; each once, sorted. Parts of identifiers,
/// paths and numbers are left out, since others split those differently.
std::vector<std::string> plain_words(std::string_view text);

/// In how many texts each plain word occurs.
using DocumentFrequencies = std::unordered_map<std::string, std::uint64_t>;
void count_words(DocumentFrequencies& frequencies, std::string_view text);

/// One query: different words, to be joined by OR.
using SearchWords = std::vector<std::string>;

/// The same for the same frequencies and seed. Fewer than `count` only when there are no words.
std::vector<SearchWords> draw_queries(const DocumentFrequencies& frequencies, std::uint64_t seed,
                                      std::size_t count);

/// The words with blanks between.
std::string joined(const SearchWords& words);

}  // namespace bmad_mem::bench
