// rule_language.hpp - which sentences of people state a rule, a decision or a preference; and which
// rules a prompt calls for: those that name what it is about.
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
//
//   "We use snake_case for columns."   columns, snake_case, and column's subject: table, migration
//   … "write a migration for the users"  migration: the same subject
//
// A rule needs no hit of a search: "add the dayjs package" and "always pnpm" have no word in
// common. Words are compared by their stems, in all languages at once; subjects are the lines of
// rules/subjects.txt. Words of any work ("file", "use") alone don't call for a rule.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
