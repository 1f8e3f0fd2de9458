#include "search_queries.hpp"

#include <algorithm>
#include <utility>

#include "prng.hpp"
#include "search_text.hpp"

namespace bmad_mem::bench {
namespace {

/// A word that is in one entry only is a name, most often.
constexpr std::uint64_t kLeastFrequency = 2;

/// Draws words, each in proportion to its frequency.
class WordUrn {
 public:
  explicit WordUrn(const DocumentFrequencies& frequencies) {
    for (const auto& [word, frequency] : frequencies.words()) {
      if (frequency >= kLeastFrequency) {
        words_.emplace_back(word, frequency);
      }
    }
    // The order of a hash table differs between libraries.
    std::ranges::sort(words_);
    std::uint64_t end = 0;
    for (auto& [word, frequency] : words_) {
      frequency = end += frequency;
    }
  }

  [[nodiscard]] bool empty() const { return words_.empty(); }

  const std::string& draw(Random& random) const {
    const std::uint64_t at = random.below(words_.back().second);
    return std::ranges::upper_bound(words_, at, {}, [](const auto& word) { return word.second; })
        ->first;
  }

 private:
  std::vector<std::pair<std::string, std::uint64_t>> words_;  // With where its stretch ends.
};

}  // namespace

void DocumentFrequencies::add(std::string_view text) {
  ++entries_;
  for (std::string& word : plain_words(text)) {
    ++words_[std::move(word)];
  }
}

std::vector<SearchWords> draw_queries(const DocumentFrequencies& frequencies, std::uint64_t seed,
                                      std::size_t count) {
  constexpr std::uint64_t kWordsMax = 5;
  const WordUrn urn(frequencies);
  Random random(seed);
  std::vector<SearchWords> queries;
  while (!urn.empty() && queries.size() < count) {
    SearchWords words;
    for (std::uint64_t left = random.between(1, kWordsMax); left > 0; --left) {
      const std::string& word = urn.draw(random);
      if (std::ranges::find(words, word) == words.end()) {
        words.push_back(word);
      }
    }
    queries.push_back(std::move(words));
  }
  return queries;
}

std::string joined(const SearchWords& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

}  // namespace bmad_mem::bench
