// rule_language.hpp - how people state rules, decisions and preferences: a table of patterns for
// each language, rules/*.txt, and one reader for all.
//
//   sentence ── changes of common.txt ──> plain text ── those of a language ──> its marks and rows
//
// A line of a table, where @NAME stands for what was named before:
//
//   words NAME a b c             NAME is one of these words
//   where NAME PATTERN           NAME is what the pattern matches, too
//   tag a b c                    each of these words has a '~' before it: large lists in many rows
//   oneof NAME a b c             of these, one rules out the others: "npm", "pnpm"
//   for PATTERN                  the language is looked at where the text matches
//   change PATTERN => TEXT       in this order; \s is a blank
//   own PATTERN                  what stands before a colon says that the speaker's own words
//                                follow
//   no PATTERN                   no rule is in the sentence: a question, a report, what was
//   below CONFIDENCE PATTERN     it speaks of this moment, or of trouble: rows below that are none
//   style PATTERN                it has to do with the looks of code
//   CATEGORY CONFIDENCE PATTERN  a rule; from the beginning of a clause on, unless it has a '^'
//   key PATTERN                  in a rule (?P<v>…) is the value, (?P<o>…) what it is for; rules
//                                that agree but for a value of the same `oneof` replace each other
//
// Patterns are of RE2, in small letters without accents. Whole files
// of sentences, rules and what only looks so, are in tests/knowledge/fixtures/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

struct StatedRule {
  Category category = Category::kConstraint;
  double confidence = 0;  ///< 0.4 to 0.8: the more the words speak of something that lasts.
  std::string key;        ///< The same for those that rule each other out; often empty.
};

/// What `sentence`, one line of UTF-8, states for longer than this moment, in English, German,
/// French, Spanish, Chinese or Japanese. Threads: any.
std::optional<StatedRule> stated_rule(std::string_view sentence);

/// Whether `head`, which a colon follows, says that the speaker's own words come next: "Please
/// remember", "Our rule". But "Note from Bob" doesn't, nor does "I got this".
bool is_own_lead(std::string_view head);

}  // namespace bmad_mem
