// vocabulary.hpp - the words of the corpus and how often each is used.
//
//   rank      0 .. ~330      real verbs, nouns and adjectives of software talk
//             .. +9,000      made-up stems, longer towards the rare end: "trel", "brantoup", ...
//   frequency of a rank      proportional to 1 / (rank + 3), which is Zipf's law after Mandelbrot
//
// A word drawn is inflected by its kind (fail, fails, failed, failing), so that a stemmer has to
// work. Identifiers (getUserById, src/auth/token_store.ts, E_LOCK_TIMEOUT) consist of such words,
// and most of them come again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "prng.hpp"

namespace bmad_mem::bench {

/// Draws 0 .. count - 1, `i` with a probability proportional to 1 / (i + 3).
class Zipf {
 public:
  explicit Zipf(std::size_t count);
  std::size_t draw(Random& random) const;

 private:
  std::vector<std::uint64_t> cumulative_;
};

enum class WordKind : std::uint8_t { kVerb, kNoun, kAdjective };

struct Word {
  std::string stem;
  WordKind kind = WordKind::kNoun;
};

/// The same for the same seed, on every machine.
class Vocabulary {
 public:
  explicit Vocabulary(std::uint64_t seed);

  /// A content word, most often a frequent one, inflected.
  std::string content_word(Random& random) const;
  /// The content word of `rank`, inflected.
  std::string inflected(std::size_t rank, Random& random) const;
  /// A name in the code, most often one that came before.
  const std::string& identifier(Random& random) const;
  std::string_view function_word(Random& random) const;
  std::string_view technical_term(Random& random) const;
  std::string_view foreign_word(Random& random) const;

  [[nodiscard]] const std::string& stem(std::size_t rank) const { return words_[rank].stem; }
  [[nodiscard]] std::size_t real_words() const { return real_words_; }
  [[nodiscard]] std::size_t size() const { return words_.size(); }

 private:
  void add_real_words();
  void add_made_up_words(Random& random);

  std::vector<Word> words_;  // By rank.
  std::size_t real_words_ = 0;
  std::vector<std::string> identifiers_;
  std::vector<std::string_view> function_words_;
  std::vector<std::string_view> technical_terms_;
  std::vector<std::string_view> foreign_words_;
  Zipf word_ranks_;
  Zipf identifier_ranks_;
  Zipf function_ranks_;
  Zipf technical_ranks_;
};

}  // namespace bmad_mem::bench
