// sentence_words.hpp - a sentence as the words that cues are looked for in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

/// A word of a sentence. What stands in quotation marks or between back-ticks is there, but is no
/// word that a cue could be made of.
struct SentenceWord {
  std::string text;  // Lower case, without punctuation around it; empty in quotations.
  bool begins_clause = false;
  bool ends_clause = false;
};

/// Words looked at: where a cue stands beyond that, it is in the middle of a list or a log.
inline constexpr std::size_t kSentenceWordsMax = 120;

/// The first kSentenceWordsMax words of `sentence`, one line of UTF-8.
std::vector<SentenceWord> sentence_words(std::string_view sentence);

}  // namespace bmad_mem
