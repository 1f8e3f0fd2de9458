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

/// In how many entries each plain word occurs, see plain_words().
class DocumentFrequencies {
 public:
  /// The text of one entry.
  void add(std::string_view text);

  [[nodiscard]] std::uint64_t entries() const { return entries_; }
  [[nodiscard]] const std::unordered_map<std::string, std::uint64_t>& words() const {
    return words_;
  }

 private:
  std::uint64_t entries_ = 0;
  std::unordered_map<std::string, std::uint64_t> words_;
};

/// One query: different words, to be joined by OR.
using SearchWords = std::vector<std::string>;

/// The same for the same frequencies and seed. Fewer than `count` only when there are no words.
std::vector<SearchWords> draw_queries(const DocumentFrequencies& frequencies, std::uint64_t seed,
                                      std::size_t count);

/// The words with blanks between.
std::string joined(const SearchWords& words);

}  // namespace bmad_mem::bench
