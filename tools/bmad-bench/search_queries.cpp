#include "search_queries.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/ranges.h>

#include "bmad_mem/text.hpp"
#include "corpus_text.hpp"

namespace bmad_mem::bench {
namespace {

/// A byte of a letter or a digit, in any script.
bool is_of_word(char c) { return is_alnum(c) || !is_ascii(c); }

/// Whether `c` can stand beside a word without making it part of something longer.
bool separates(char c) { return !is_of_word(c) && !std::string_view("_-./:'@#\\=+~$").contains(c); }

/// A full stop or a colon ends a word when nothing follows it at once.
bool ends_word(std::string_view text, std::size_t at) {
  if (at >= text.size() || separates(text[at])) {
    return true;
  }
  return (text[at] == '.' || text[at] == ':') && (at + 1 >= text.size() || is_space(text[at + 1]));
}

bool is_plain(std::string_view word) {
  constexpr std::size_t kSizeMin = 3;
  constexpr std::size_t kSizeMax = 16;
  static const std::unordered_set<std::string_view> kFunctionWords = [] {
    const std::vector<std::string_view> words = words_of("functions");
    return std::unordered_set<std::string_view>(words.begin(), words.end());
  }();
  return word.size() >= kSizeMin && word.size() <= kSizeMax &&
         std::ranges::all_of(word, is_lower) && !kFunctionWords.contains(word);
}

}  // namespace

std::string text_for_others(std::string_view text) {
  std::string parts;
  parts.reserve(text.size() + text.size() / 16);
  char before = ' ';
  for (const char c : text) {
    if (is_upper(c) && is_lower(before)) {
      parts += ' ';
    }
    parts += c == '_' ? ' ' : c;
    before = c;
  }
  return parts;
}

std::vector<std::string> plain_words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t begin = at;
    while (at < text.size() && is_of_word(text[at])) {
      ++at;
    }
    if (at > begin && (begin == 0 || separates(text[begin - 1])) && ends_word(text, at)) {
      std::string word(text.substr(begin, at - begin));
      word.front() = to_lower(word.front());  // The first of a sentence.
      if (is_plain(word)) {
        words.push_back(std::move(word));
      }
    }
  }
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  return words;
}

void count_words(DocumentFrequencies& frequencies, std::string_view text) {
  for (std::string& word : plain_words(text)) {
    ++frequencies[std::move(word)];
  }
}

std::vector<SearchWords> draw_queries(const DocumentFrequencies& frequencies, std::uint64_t seed,
                                      std::size_t count) {
  constexpr std::uint64_t kWordsMax = 5;
  constexpr std::uint64_t kLeastFrequency = 2;  // A word of one entry is a name, most often.
  std::vector<std::pair<std::string, std::uint64_t>> urn;
  std::ranges::copy_if(frequencies, std::back_inserter(urn),
                       [](const auto& word) { return word.second >= kLeastFrequency; });
  std::ranges::sort(urn);  // The order of a hash table differs between libraries.
  std::uint64_t end = 0;   // From frequencies to where the stretch of each word ends.
  for (auto& [word, frequency] : urn) {
    frequency = end += frequency;
  }
  Random random(seed);
  std::vector<SearchWords> queries;
  while (!urn.empty() && queries.size() < count) {
    SearchWords& words = queries.emplace_back();
    for (std::uint64_t left = random.between(1, kWordsMax); left > 0; --left) {
      const auto drawn = std::ranges::upper_bound(urn, random.below(end), {},
                                                  [](const auto& word) { return word.second; });
      if (!is_among(words, drawn->first)) {
        words.push_back(drawn->first);
      }
    }
  }
  return queries;
}

std::string joined(const SearchWords& words) { return fmt::format("{}", fmt::join(words, " ")); }

}  // namespace bmad_mem::bench
