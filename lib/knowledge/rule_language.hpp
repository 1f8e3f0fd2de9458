// rule_language.hpp - which sentences of people state a rule, a decision or a preference.
//
//   sentence --changes of sentences.txt--> plain text --rule_score()--> score: a rule, or none
//
// A line of rules/sentences.txt is one of these; patterns are of RE2, in lower case without
// accents:
//
//   change PATTERN => TEXT   in this order
//   no PATTERN               no rule is in the sentence, in any words
//   back PATTERN             it takes back what was said before it, and states nothing
//   own PATTERN              what stands before a colon says that the speaker's own words follow
//   CATEGORY PATTERN         the category of a rule, by the first that fits; else constraint
#pragma once

#include <optional>
#include <string_view>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

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

}  // namespace bmad_mem
