// rule_score.hpp - how much the words of a sentence speak for a rule, in any language.
//
// Weights of words, of two and three words in a row, of the fronts of words and of what a sentence
// begins with: rules/{words,pairs,rows}.txt, learned from the sentences of
// tests/knowledge/fixtures/stated_rules_*.tsv by tests/knowledge/rule_weights.py, which has the
// same features. Weights below 0.05 and the rare features count: without those below 0.2 ten rules
// of a hundred less are found with as many look-alikes.
#pragma once

#include <string_view>

namespace bmad_mem {

/// Ten times the logarithm of the odds that `plain` is a rule: a sentence in lower case without
/// accents, with ',' where a clause ends. Threads: any.
int rule_score(std::string_view plain);

}  // namespace bmad_mem
