// rule_score.hpp - how much the words of a sentence speak for a rule, whatever its language.
//
// A second opinion beside the patterns of rule_language.hpp: weights of words and of two or three
// words in a row, learned from the sentences of tests/knowledge/fixtures/stated_rules.tsv by
// tests/knowledge/rule_weights.py, which has the same features. Of 120 rules and 120 look-alikes
// that they had not seen, the patterns alone took 87 and 21; of another such set both together took
// 97 and 8.
#pragma once

#include <string_view>

namespace bmad_mem {

/// Ten times the logarithm of the odds that `plain` is a rule: a sentence in small letters without
/// accents, with ',' where a clause ends. Threads: any.
int rule_score(std::string_view plain);

}  // namespace bmad_mem
