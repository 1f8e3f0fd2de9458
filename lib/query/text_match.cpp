#include "query/text_match.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bmad_mem/utf8.hpp"

namespace bmad_mem {
namespace {

constexpr double kK1 = 0.9;
constexpr double kB = 0.4;
constexpr double kPrefixWeight = 0.7;
constexpr std::size_t kPrefixSizeMin = 4;

// English function words; they say how a question is asked, not what about. Sorted.
constexpr std::array<std::string_view, 64> kStopWords = {
    "a",    "about",  "an",   "and",   "are",  "as",   "at",    "be",     "by",    "can",   "could",
    "did",  "do",     "does", "for",   "from", "had",  "has",   "have",   "he",    "how",   "i",
    "if",   "in",     "is",   "it",    "its",  "me",   "my",    "of",     "on",    "or",    "our",
    "she",  "should", "so",   "than",  "that", "the",  "their", "them",   "then",  "there", "they",
    "this", "to",     "us",   "was",   "we",   "were", "what",  "when",   "where", "which", "who",
    "why",  "will",   "with", "would", "you",  "your", "after", "before", "into"};

bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z') || byte >= 0x80;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Calls `use(offset, word)` for each run of letters, digits and non-ASCII characters.
template <typename Use>
void for_each_word(std::string_view text, const Use& use) {
  std::string word;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word_byte(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    word.clear();
    for (; i < text.size() && is_word_byte(text[i]); ++i) {
      word += lower(text[i]);
    }
    use(begin, word);
  }
}

bool is_stop_word(std::string_view word) {
  return std::ranges::find(kStopWords, word) != kStopWords.end();
}

/// 1 for the word itself, less for a longer one that starts with it, else 0.
double match_weight(const std::string& wanted, std::string_view word) {
  if (word == wanted) {
    return 1;
  }
  return wanted.size() >= kPrefixSizeMin && word.starts_with(wanted) ? kPrefixWeight : 0;
}

bool matches_any(const QueryWords& query, std::string_view word) {
  return std::ranges::any_of(
      query.words, [&](const std::string& wanted) { return match_weight(wanted, word) > 0; });
}

}  // namespace

Result<QueryWords> parse_query(std::string_view text) {
  QueryWords all;
  QueryWords meaningful;
  for_each_word(text, [&](std::size_t /*offset*/, const std::string& word) {
    const auto add_to = [&](QueryWords& query) {
      if (std::ranges::find(query.words, word) == query.words.end()) {
        query.words.push_back(word);
      }
    };
    add_to(all);
    if (!is_stop_word(word)) {
      add_to(meaningful);
    }
  });
  if (all.words.empty()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "the query holds no word to look for; write at least one",
                 .field = "text"};
  }
  return meaningful.words.empty() ? all : meaningful;
}

TextMatcher::TextMatcher(QueryWords query) : query_(std::move(query)) {}

void TextMatcher::add(std::string_view text) {
  Counted counted{.frequencies = std::vector<double>(query_.words.size()), .length = 0};
  for_each_word(text, [&](std::size_t /*offset*/, const std::string& word) {
    ++counted.length;
    for (std::size_t i = 0; i < query_.words.size(); ++i) {
      counted.frequencies[i] += match_weight(query_.words[i], word);
    }
  });
  texts_.push_back(std::move(counted));
}

std::vector<double> TextMatcher::scores() const {
  const double count = static_cast<double>(texts_.size());
  double total_length = 0;
  std::vector<double> document_frequencies(query_.words.size());
  for (const Counted& text : texts_) {
    total_length += static_cast<double>(text.length);
    for (std::size_t i = 0; i < query_.words.size(); ++i) {
      document_frequencies[i] += text.frequencies[i] > 0 ? 1 : 0;
    }
  }
  const double mean_length = std::max(1.0, total_length / std::max(1.0, count));
  std::vector<double> idf(query_.words.size());
  double reachable = 0;
  for (std::size_t i = 0; i < idf.size(); ++i) {
    idf[i] =
        std::log(1 + (count - document_frequencies[i] + 0.5) / (document_frequencies[i] + 0.5));
    reachable += idf[i] * (kK1 + 1);
  }
  std::vector<double> scores;
  scores.reserve(texts_.size());
  for (const Counted& text : texts_) {
    const double norm = kK1 * (1 - kB + kB * static_cast<double>(text.length) / mean_length);
    double score = 0;
    for (std::size_t i = 0; i < idf.size(); ++i) {
      const double frequency = text.frequencies[i];
      score += idf[i] * frequency * (kK1 + 1) / (frequency + norm);
    }
    scores.push_back(reachable > 0 ? score / reachable : 0);
  }
  return scores;
}

Snippet make_snippet(const QueryWords& query, std::string_view text, std::size_t size_max) {
  std::size_t first = text.size();
  for_each_word(text, [&](std::size_t offset, const std::string& word) {
    if (first == text.size() && matches_any(query, word)) {
      first = offset;
    }
  });
  // Start a little before the first match, at a word, so that it is read in its sentence.
  std::size_t begin = 0;
  if (first != text.size() && first > size_max / 3) {
    begin = first - size_max / 3;
    while (begin < first && is_word_byte(text[begin])) {
      ++begin;
    }
  }
  Snippet snippet;
  const std::string_view part = utf8_prefix(text.substr(begin), size_max);
  snippet.text = begin > 0 ? "…" : "";
  const std::size_t shift = snippet.text.size();
  for (const char c : part) {
    snippet.text += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  for_each_word(part, [&](std::size_t offset, const std::string& word) {
    if (matches_any(query, word)) {
      snippet.highlights.push_back({.offset = offset + shift, .size = word.size()});
    }
  });
  if (begin + part.size() < text.size()) {
    snippet.text += "…";
  }
  return snippet;
}

}  // namespace bmad_mem
