// corpus_text.hpp - sentences that are no sentences, but count like them.
//
//   rank      0 .. ~330      real verbs, nouns and adjectives of software talk: words.txt
//             .. +9,000      made-up stems, longer towards the rare end: "trel", "brantoup", ...
//   frequency of a rank      proportional to 1 / (rank + 3), which is Zipf's law after Mandelbrot
//
// A word drawn is inflected by its kind (fail, fails, failed, failing), so that a stemmer has to
// work. Identifiers (getUserById, src/auth/token_store.ts, E_LOCK_TIMEOUT) consist of such words,
// and most of them come again.
//
// Of the tokens of a text about a topic, roughly: 40 % function words, 33 % content words by Zipf's
// law, 18 % words of the topic, 4 % technical terms, 4 % identifiers and numbers, 0.5 % words
// outside ASCII. The topic makes words come in clusters, as they do in talk: without it, every list
// of postings would be spread evenly, and searches would be measured on data that nobody has.
//
// All is the same for the same seed, on every machine and in every year. The standard fixes its
// engines but not its distributions, and libm rounds differently from version to version: here is
// integer arithmetic only.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::bench {

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
  }
  /// 0 <= result < `bound`, which lies in 1 .. 2^32. Biased by less than bound / 2^32.
  std::uint64_t below(std::uint64_t bound) {
    assert(bound > 0 && bound <= (std::uint64_t{1} << 32U));
    return ((next() >> 32U) * bound) >> 32U;
  }
  /// low <= result <= high.
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }
  bool percent(std::uint64_t chance) { return below(100) < chance; }
  /// One of the elements, each as likely.
  template <typename Container>
  const auto& pick(const Container& container) {
    return container[static_cast<std::size_t>(below(container.size()))];
  }

 private:
  std::uint64_t state_;
};

/// Draws 0 .. count - 1, `i` with a probability proportional to 1 / (i + 3).
class Zipf {
 public:
  explicit Zipf(std::size_t count);
  std::size_t draw(Random& random) const;

 private:
  std::vector<std::uint64_t> cumulative_;
};

/// The text of words.txt, which is part of the program.
std::string_view words_file();
/// The words of a section of it: "functions", "nouns", "verbs", "adjectives", "technical",
/// "foreign".
std::vector<std::string_view> words_of(std::string_view section);

/// `stem` with an English ending (s, ed, ing, er, ly, ness), by the spelling rules that a stemmer
/// undoes: queries, stored, running, simply, emptiness.
std::string with_ending(std::string_view stem, std::string_view ending);

/// Runs of letters and digits; a byte outside ASCII counts as a letter.
std::size_t count_tokens(std::string_view text);

/// What a conversation is about.
struct Topic {
  std::string name;                ///< "connection_pooling".
  std::vector<std::size_t> words;  ///< Ranks, most typical first.
};

class TextMaker {
 public:
  /// The words are made from `seed`, the texts by `random`, which must outlive the maker.
  TextMaker(std::uint64_t seed, Random& random);

  Topic topic();

  /// Sentences of `tokens` words in all, or a few more. One line.
  std::string sentences(const Topic& topic, std::size_t tokens);
  /// As sentences(), with paragraphs, lists and code: what assistants write.
  std::string document(const Topic& topic, std::size_t tokens);
  /// A line of a program or a shell, with quotes and brackets.
  std::string code();
  /// A few words without a full stop, such as a title.
  std::string phrase(const Topic& topic, std::size_t tokens) { return words(topic, tokens, false); }
  /// A lower-case word that fits a tag or a key.
  std::string tag(const Topic& topic);

 private:
  struct Word {
    std::string stem;
    std::size_t kind = 0;  ///< Noun, verb, adjective.
  };
  void add_real_words();
  void add_made_up_words(Random& random);
  void add_identifiers(Random& random);
  std::string inflected(std::size_t rank);
  const std::string& identifier() { return identifiers_[identifier_ranks_.draw(random_)]; }
  std::string word(const Topic& topic);
  /// Words, some with a comma behind them, the first with a capital.
  std::string words(const Topic& topic, std::size_t tokens, bool commas);

  Random& random_;
  std::vector<Word> words_;  ///< By rank.
  std::size_t real_words_ = 0;
  std::vector<std::string> identifiers_;
  std::vector<std::string_view> functions_ = words_of("functions");
  std::vector<std::string_view> technical_ = words_of("technical");
  std::vector<std::string_view> foreign_ = words_of("foreign");
  Zipf word_ranks_;
  Zipf identifier_ranks_;
  Zipf function_ranks_;
  Zipf technical_ranks_;
  Zipf topic_ranks_;
};

}  // namespace bmad_mem::bench
