// preference_detector.hpp - what a user's message says about how things are to be done, found by
// the words that people use for it: "I prefer", "never", "from now on", "we decided".
//
// No model: a table of cues (preference_cues.cpp), which must stand where such a sentence has them,
// at the beginning of a clause. So "never commit to main" is found, and "it never worked" is not.
// What is found is a candidate, not knowledge: somebody has to accept it.
#pragma once

#include <cstddef>
#include <cstdint>
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

// What somebody says in a message, sentence by sentence: message_sentences.cpp.

/// What is longer is no sentence: its front is enough to see what it is about.
inline constexpr std::size_t kSentenceSizeMax = 4000;

struct MessageSentence {
  std::string text;  ///< On one line, single blanks, never empty; at most kSentenceSizeMax bytes.
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

// A sentence as the words that cues are looked for in.

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

// The cues by which preferences are known, and what they are made of.

/// A cue: words that must follow each other, from the beginning of a clause.
///
///   i ?really|much prefer     "i", perhaps one of two words, "prefer"
///   never @verb               "never" and a verb that is an instruction: "commit", not "worked"
///   stop @ing                 a word in -ing
///   use * instead             at most 8 words in between
///   i like !it|this           some word, but not one of these
///   next time ~i|it           not one of these words next; may be the end
///   prefer .                  some word
///   decision :                a colon, or anything else that ends a clause
///   @subject must             1 to 6 words of which none is "it", "you", "that" …
///   must be @state            "unique", "documented": what a rule asks for
///
/// A new cue is a row; tests/knowledge/preference_detector_test.cpp wants sentences that have it
/// and sentences that only look so.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): rows read best in this order.
struct PreferenceCue {
  std::string_view words;
  Category category = Category::kUserPreference;
  double confidence = 0;
  /// May stand anywhere in a sentence that is an instruction: "Use tabs from now on."
  bool anywhere = false;
};

std::span<const PreferenceCue> preference_cues();

/// "use", "run", "commit" …: verbs that instructions are made of, in their base form.
bool is_instruction_verb(std::string_view word);
/// "unique", "documented" …: what something can be required to be.
bool is_required_state(std::string_view word);
/// "as I said", "by the way" …: what may stand before a cue. Only their words count.
std::span<const PreferenceCue> lead_in_phrases();
/// "ok", "and", "please" …: single words of that kind.
bool is_lead_in(std::string_view word);
/// "maybe", "suppose" …: what comes with them is no statement.
bool is_supposing(std::string_view word);
/// "says", "told", "error" …: what comes after them was said by somebody else.
bool is_reporting(std::string_view word);
/// The same where a colon follows: "Error: …".
bool is_report_head(std::string_view word);
/// "indentation", "semicolons" …: what has to do with the looks of code.
bool is_about_style(std::string_view word);

// Whether a cue stands at a place of a sentence; preference_cues.hpp says what
// cues are made of.

/// Whether `word` is one of `choices`, which are divided by '|'. The empty word is none.
bool is_one_of(std::string_view choices, std::string_view word);

/// For the words of one sentence, which must outlive it.
class CueMatcher {
 public:
  explicit CueMatcher(const std::vector<SentenceWord>& words) : words_(words) {}

  /// Where `cue` ends that begins at word `at`: the index behind its last word.
  [[nodiscard]] std::optional<std::size_t> end_of(std::string_view cue, std::size_t at) const;

  /// Whether what stands at `at` tells somebody to do something.
  [[nodiscard]] bool is_instruction(std::size_t at) const;

 private:
  [[nodiscard]] std::string_view word(std::size_t at) const;
  [[nodiscard]] bool is_of_kind(std::string_view element, std::size_t at) const;
  [[nodiscard]] bool is_verb(std::size_t at) const;
  [[nodiscard]] bool is_no_subject(std::size_t at, bool is_first) const;
  [[nodiscard]] std::optional<std::size_t> end_after_gap(std::string_view rest, std::size_t at,
                                                         std::size_t min, std::size_t max,
                                                         bool is_subject) const;

  const std::vector<SentenceWord>& words_;
};

}  // namespace bmad_mem
