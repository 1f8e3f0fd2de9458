// preference_detector.hpp - what a user's message says about how things are to be done, found by
// the words that people use for it: "I prefer", "never", "from now on", "we decided".
//
// No model: a table of cues (preference_cues.cpp), which must stand where such a sentence has them,
// at the beginning of a clause. So "never commit to main" is found, and "it never worked" is not.
// What is found is a candidate, not knowledge: somebody has to accept it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

struct PreferenceCandidate {
  std::string sentence;  ///< As it was said, on one line, cut to kCandidateWordsMax words.
  Category category = Category::kUserPreference;
  double confidence = 0;  ///< 0.4 to 0.75: the more the words speak of something that lasts.
  std::string cue;        ///< The words that gave it away, in lower case: "from now on".
  std::size_t sentence_index = 0;  ///< Among all sentences of the message.
};

inline constexpr std::size_t kCandidatesPerMessageMax = 20;
inline constexpr std::size_t kCandidateWordsMax = 40;

/// The candidates in `message`, UTF-8 in English, in its order, no sentence twice. Questions,
/// suppositions, reported speech, quotations and code give none. Time is linear in the size of
/// `message`.
std::vector<PreferenceCandidate> detect_preferences(std::string_view message);

}  // namespace bmad_mem
