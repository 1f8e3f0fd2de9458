// stop_words.cpp - words that say how a sentence is built, not what it is about.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "index/analyzer.hpp"

namespace bmad_mem {
namespace {

// English articles, pronouns, prepositions, conjunctions, auxiliaries and their contractions.
// Sorted by byte, because it is searched.
constexpr auto kStopWords = std::to_array<std::string_view>({
    "a",          "about",  "above",     "after",   "again",      "all",      "also",   "am",
    "an",         "and",    "any",       "are",     "aren't",     "as",       "at",     "be",
    "because",    "been",   "before",    "being",   "below",      "between",  "both",   "but",
    "by",         "can",    "can't",     "cannot",  "could",      "couldn't", "did",    "didn't",
    "do",         "does",   "doesn't",   "doing",   "don't",      "down",     "during", "each",
    "for",        "from",   "further",   "had",     "hadn't",     "has",      "hasn't", "have",
    "haven't",    "having", "he",        "he'd",    "he'll",      "her",      "here",   "hers",
    "herself",    "him",    "himself",   "his",     "how",        "i",        "i'd",    "i'll",
    "i'm",        "i've",   "if",        "in",      "into",       "is",       "isn't",  "it",
    "it'd",       "it'll",  "its",       "itself",  "just",       "me",       "might",  "more",
    "most",       "must",   "mustn't",   "my",      "myself",     "nor",      "not",    "of",
    "off",        "on",     "once",      "only",    "or",         "other",    "our",    "ours",
    "ourselves",  "out",    "over",      "own",     "same",       "shall",    "she",    "she'd",
    "she'll",     "should", "shouldn't", "so",      "some",       "such",     "than",   "that",
    "the",        "their",  "theirs",    "them",    "themselves", "then",     "there",  "these",
    "they",       "they'd", "they'll",   "they're", "they've",    "this",     "those",  "through",
    "to",         "too",    "under",     "until",   "up",         "upon",     "us",     "very",
    "was",        "wasn't", "we",        "we'd",    "we'll",      "we're",    "we've",  "were",
    "weren't",    "what",   "when",      "where",   "whether",    "which",    "while",  "who",
    "whom",       "whose",  "why",       "will",    "with",       "won't",    "would",  "wouldn't",
    "you",        "you'd",  "you'll",    "you're",  "you've",     "your",     "yours",  "yourself",
    "yourselves",
});
static_assert(std::ranges::is_sorted(kStopWords));

/// Where the words that begin with each letter begin, and where the last ones end.
constexpr auto kLetterBegins = [] {
  std::array<std::uint8_t, 27> begins{};
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const char letter = static_cast<char>('a' + i);
    begins[i] = static_cast<std::uint8_t>(
        std::ranges::count_if(kStopWords, [&](std::string_view word) { return word[0] < letter; }));
  }
  return begins;
}();
static_assert(kStopWords.size() < 256);

}  // namespace

bool is_stop_word(std::string_view word) {
  constexpr std::size_t kSizeMax = std::ranges::max(kStopWords, {}, &std::string_view::size).size();
  if (word.empty() || word.size() > kSizeMax || word[0] < 'a' || word[0] > 'z') {
    return false;
  }
  const auto letter = static_cast<std::size_t>(word[0] - 'a');
  return std::binary_search(kStopWords.begin() + kLetterBegins[letter],
                            kStopWords.begin() + kLetterBegins[letter + 1], word);
}

}  // namespace bmad_mem
