#include "preference_detector.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/text.hpp"
#include "bmad_mem/utf8.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kCandidateSizeMax = 600;

/// The cues by the words they may begin with, so that a word meets only its own.
class CueTable {
 public:
  explicit CueTable(std::span<const PreferenceCue> cues) {
    for (const PreferenceCue& cue : cues) {
      const std::string_view first = cue.words.substr(0, cue.words.find(' '));
      if (first.front() == '@') {
        any_.push_back(&cue);
        continue;
      }
      for (std::string_view rest = first; !rest.empty();) {
        const std::size_t end = std::min(rest.find('|'), rest.size());
        by_word_[rest.substr(0, end)].push_back(&cue);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
  }

  /// Calls `visit(cue)` for each that may begin with `word`.
  template <typename Visit>
  void visit(std::string_view word, Visit visit) const {
    if (const auto found = by_word_.find(word); found != by_word_.end()) {
      std::ranges::for_each(found->second, visit);
    }
    if (!word.empty()) {
      std::ranges::for_each(any_, visit);
    }
  }

 private:
  std::map<std::string_view, std::vector<const PreferenceCue*>> by_word_;
  std::vector<const PreferenceCue*> any_;
};

struct FoundCue {
  const PreferenceCue* cue = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Looks at one sentence.
class SentenceReader {
 public:
  explicit SentenceReader(const std::vector<SentenceWord>& words)
      : words_(words), matcher_(words), begins_(words.size(), false) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (words[at].begins_clause) {
        mark_begins(at);
      }
    }
  }

  [[nodiscard]] std::optional<FoundCue> best() const {
    static const CueTable kTable(preference_cues());
    std::optional<FoundCue> best;
    for (std::size_t at = 0; at < words_.size(); ++at) {
      kTable.visit(words_[at].text, [&](const PreferenceCue* cue) {
        if (best && cue->confidence <= best->cue->confidence) {
          return;
        }
        if (const auto end = fits(*cue, at)) {
          best = FoundCue{.cue = cue, .begin = at, .end = *end};
        }
      });
    }
    return best && is_stated(best->begin) ? best : std::nullopt;
  }

 private:
  /// A cue may begin where a clause does, and behind what leads in there: "ok, and please always".
  void mark_begins(std::size_t at) {
    static const CueTable kPhrases(lead_in_phrases());
    while (at < words_.size() && !begins_[at]) {
      begins_[at] = true;
      std::size_t next = is_lead_in(words_[at].text) ? at + 1 : at;
      kPhrases.visit(words_[at].text, [&](const PreferenceCue* phrase) {
        next = std::max(next, matcher_.end_of(phrase->words, at).value_or(next));
      });
      at = next;  // Unmoved: the loop ends, since this word is marked.
    }
  }

  [[nodiscard]] std::optional<std::size_t> fits(const PreferenceCue& cue, std::size_t at) const {
    if (!cue.anywhere && !begins_[at]) {
      return std::nullopt;
    }
    const auto end = matcher_.end_of(cue.words, at);
    return end && (!cue.anywhere || has_instruction(*end)) ? end : std::nullopt;
  }

  /// Whether the sentence tells somebody to do something, where a clause begins or at `after`.
  [[nodiscard]] bool has_instruction(std::size_t after) const {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      if ((begins_[at] || at == after) && matcher_.is_instruction(at)) {
        return true;
      }
    }
    return false;
  }

  /// Whether what begins at word `begin` is stated: not supposed, and not what others say.
  [[nodiscard]] bool is_stated(std::size_t begin) const {
    bool has_if = false;
    bool has_would = false;
    for (std::size_t at = 0; at < begin; ++at) {
      const std::string_view word = words_[at].text;
      const bool by_me = at > 0 && is_one_of("i|i've|we|we've|already|just", words_[at - 1].text);
      if (is_supposing(word) || (is_reporting(word) && !by_me) ||
          (words_[at].ends_clause && is_report_head(word))) {
        return false;
      }
      has_if = has_if || word == "if";
      has_would = has_would || is_one_of("would|could|might|were|had", word);
    }
    return !(has_if && has_would);
  }

  const std::vector<SentenceWord>& words_;
  CueMatcher matcher_;
  std::vector<bool> begins_;
};

/// "why do you always …", without a question mark.
bool asks(const std::vector<SentenceWord>& words) {
  static constexpr std::string_view kAsking =
      "why|how|what|who|where|which|should|could|can|does|did|is|are|am|was|were|will|would|has|"
      "isn't|aren't|doesn't|didn't|couldn't|shouldn't|wouldn't|have";
  const std::string_view first = words.front().text;
  return is_one_of(kAsking, first) ||
         (first == "do" && words.size() > 1 && is_one_of("i|you|we|they|the|these", words[1].text));
}

std::string cue_text(const std::vector<SentenceWord>& words, const FoundCue& found) {
  constexpr std::size_t kCueWordsMax = 6;
  std::string text;
  for (std::size_t at = found.begin; at < std::min(found.end, found.begin + kCueWordsMax); ++at) {
    text += text.empty() ? "" : " ";
    text += words[at].text.empty() ? "\u2026" : words[at].text;
  }
  return text;
}

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
  constexpr std::size_t kWordsMin = 2;
  std::vector<PreferenceCandidate> candidates;
  std::set<std::string, std::less<>> seen;
  const std::vector<MessageSentence> sentences = message_sentences(message);
  for (std::size_t index = 0;
       index < sentences.size() && candidates.size() < kCandidatesPerMessageMax; ++index) {
    if (sentences[index].is_question) {
      continue;
    }
    const std::vector<SentenceWord> words = sentence_words(sentences[index].text);
    if (words.size() < kWordsMin || asks(words)) {
      continue;
    }
    const std::optional<FoundCue> found = SentenceReader(words).best();
    if (!found) {
      continue;
    }
    const bool may_be_style = found->cue->category == Category::kUserPreference ||
                              found->cue->category == Category::kConstraint;
    const bool is_style = may_be_style && std::ranges::any_of(words, [](const SentenceWord& word) {
                            return is_about_style(word.text);
                          });
    PreferenceCandidate candidate{.sentence = cut(sentences[index].text),
                                  .category = is_style ? Category::kStyle : found->cue->category,
                                  .confidence = found->cue->confidence,
                                  .cue = cue_text(words, *found),
                                  .sentence_index = index};
    if (seen.insert(candidate.sentence).second) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

}  // namespace bmad_mem
