// preference_cues.hpp - the cues by which preferences are known, and what they are made of.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

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

}  // namespace bmad_mem
