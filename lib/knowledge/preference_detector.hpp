// preference_detector.hpp - what a user's message says about how things are to be done, found by
// the words that people use for it: "I prefer", "never", "from now on", "we decided".
//
// No model: weights of words (rule_language.cpp). So "never commit to main" is found, and "it
// never worked" is not. What is found is a candidate, not knowledge, unless a client proves that
// the person typed it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

struct PreferenceCandidate {
  std::string sentence;  ///< As it was said, on one line, cut to kCandidateWordsMax words.
  Category category = Category::kUserPreference;
  double confidence = 0;           ///< As StatedRule has it.
  bool may_be_pasted = false;      ///< As MessageSentence has it.
  std::size_t sentence_index = 0;  ///< Among all sentences of the message.
};

inline constexpr std::size_t kCandidatesPerMessageMax = 20;
inline constexpr std::size_t kCandidateWordsMax = 40;

/// The candidates in `message`, UTF-8, in its order, no sentence twice. Questions,
/// suppositions, reported speech, quotations, code, and what the message takes back give none. Time
/// is linear in the size of `message`.
std::vector<PreferenceCandidate> detect_preferences(std::string_view message);

// What somebody says in a message, sentence by sentence.

/// What is longer is no sentence: its front is enough to see what it is about.
inline constexpr std::size_t kSentenceSizeMax = 4000;

struct MessageSentence {
  /// On one line, single blanks, never empty; at most kSentenceSizeMax bytes.
  std::string text = {};
  bool is_question = false;
  /// It may be somebody else's: it stands behind a colon, in a log, a diff or a transcript, or is
  /// indented. What has no end of its own goes on to the end of the message. "Remember: never push"
  /// is the speaker's own, as is what else begins with such a lead and goes on in its line.
  bool may_be_pasted = false;
};

/// The sentences of `message`, UTF-8, in order. Left out: fenced and indented code, lines that end
/// as code does, lines quoted with '>', headings, tables, and <tag> ... </tag> blocks that begin a
/// line (hosts put reminders and outputs of commands into messages that way), except where the
/// tag's name says that a user wrote it. Time is linear in the size of `message`.
std::vector<MessageSentence> message_sentences(std::string_view message);

// rule_language.cpp: what a sentence states, and what calls for it.

struct StatedRule {
  Category category = Category::kConstraint;
  double confidence = 0;  ///< 0.6 to 0.8.
};

/// What `sentence`, one line of UTF-8, states for longer than this moment, in English, German,
/// French, Spanish, Chinese or Japanese. Threads: any.
std::optional<StatedRule> stated_rule(std::string_view sentence);

/// Whether `sentence` takes back what was said before it: "no, scratch that", "just kidding".
bool takes_back(std::string_view sentence);

/// Whether `head`, which a colon follows, says that the speaker's own words come next: "Please
/// remember", "Our rule". But "Note from Bob" doesn't, nor does "I got this".
bool is_own_lead(std::string_view head);

/// Most rules that are told at a prompt.
inline constexpr std::size_t kTriggeredMax = 5;

/// Of `rules`, which are in force, those that `prompt` calls for: at most kTriggeredMax, the best
/// match first, of equals in their order. Pure; some 1 ms, and 30 us more for each rule.
std::vector<const KnowledgeItem*> triggered_rules(std::span<const KnowledgeItem* const> rules,
                                                  std::string_view prompt);

/// The same for rules that agree except for a value of a list `oneof` of the subjects, so that the
/// newer one replaces the older: "commit messages in English", later "in German". Empty for others.
std::string rule_key(std::string_view rule);

}  // namespace bmad_mem
