// corpus_text.hpp - sentences that are no sentences, but count like them.
//
// Of the tokens of a text about a topic, roughly: 40 % function words, 33 % content words by Zipf's
// law, 18 % words of the topic, 4 % technical terms, 4 % identifiers and numbers, 0.5 % words
// outside ASCII. The topic makes words come in clusters, as they do in talk: without it, every list
// of postings would be spread evenly, and searches would be measured on data that nobody has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "prng.hpp"
#include "vocabulary.hpp"

namespace bmad_mem::bench {

/// What a conversation is about.
struct Topic {
  std::string name;                ///< "connection_pooling".
  std::vector<std::size_t> words;  ///< Ranks in the vocabulary, most typical first.
};

/// Runs of letters and digits; a byte outside ASCII counts as a letter.
std::size_t count_tokens(std::string_view text);

class TextMaker {
 public:
  /// Both must outlive the maker.
  TextMaker(const Vocabulary& vocabulary, Random& random);

  Topic topic();

  /// Sentences of `tokens` words in all, or a few more. One line.
  std::string sentences(const Topic& topic, std::size_t tokens);
  /// As sentences(), with paragraphs, lists and code: what assistants write.
  std::string document(const Topic& topic, std::size_t tokens);
  /// A line of a program or a shell, with quotes and brackets.
  std::string code();
  /// A few words without a full stop, such as a title.
  std::string phrase(const Topic& topic, std::size_t tokens);
  /// A lower-case word that fits a tag or a key.
  std::string tag(const Topic& topic);

 private:
  std::string word(const Topic& topic);
  std::string sentence(const Topic& topic, std::size_t tokens);

  const Vocabulary& vocabulary_;
  Random& random_;
  Zipf topic_ranks_;
};

}  // namespace bmad_mem::bench
