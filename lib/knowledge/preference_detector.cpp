#include "preference_detector.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/utf8.hpp"
#include "rule_language.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kCandidateSizeMax = 600;
constexpr std::size_t kSentencesMax = 300;  // Nobody types more, and each takes some 0.1 ms.

/// The first kCandidateWordsMax words of `sentence`, and no more than fits on a page.
std::string cut(std::string_view sentence) {
  std::size_t count = 0;
  std::size_t end = 0;
  while (end < sentence.size() && count < kCandidateWordsMax) {
    end = std::min(sentence.find(' ', end + 1), sentence.size());
    ++count;
  }
  return std::string(utf8_prefix(sentence.substr(0, end), kCandidateSizeMax));
}

}  // namespace

std::vector<PreferenceCandidate> detect_preferences(std::string_view message) {
  std::vector<PreferenceCandidate> candidates;
  std::set<std::string, std::less<>> seen;
  const std::vector<MessageSentence> sentences = message_sentences(message);
  for (std::size_t index = 0; index < std::min(sentences.size(), kSentencesMax) &&
                              candidates.size() < kCandidatesPerMessageMax;
       ++index) {
    const std::string sentence = cut(sentences[index].text);
    const std::optional<StatedRule> rule =
        seen.insert(sentence).second ? stated_rule(sentence) : std::nullopt;
    if ((rule || !candidates.empty()) && takes_back(sentence)) {
      candidates.clear();
    } else if (rule) {
      candidates.push_back({.sentence = sentence,
                            .category = rule->category,
                            .confidence = rule->confidence,
                            .may_be_pasted = sentences[index].may_be_pasted,
                            .sentence_index = index});
    }
  }
  return candidates;
}

}  // namespace bmad_mem
