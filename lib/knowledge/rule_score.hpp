// rule_score.hpp - how much the words of a sentence speak for a rule, in any language.
//
// Weights of words, of two and three words in a row, of the fronts of words and of the first words
// of a sentence, in rules/{words,pairs,rows}.txt: learned from the sentences of
// tests/knowledge/fixtures/stated_rules_*.tsv by tests/knowledge/rule_weights.py, which has the
// same features.
//
//   always use pnpm ,   immer pnpm nehmen ,
//     =1   =45 =71 =63    =1   =71  =45  =63     the classes
//
// A class has the words that mean the same for a rule, in any language: "@WORD NUMBER" in
// words.txt, from tests/knowledge/fixtures/word_classes.txt. Classes in a row, and any two of a
// sentence ("=1&=45"), have weights as words do: what is learned of one language serves the others.
// Of 60 rules not seen 46 are found with them, and 39 without. Small weights of words count:
// without those below 0.2 ten rules of a hundred less are found.
#pragma once

#include <string_view>

namespace bmad_mem {

/// Ten times the logarithm of the odds that `plain` is a rule: a sentence in lower case without
/// accents, with ',' where a clause ends. Threads: any.
int rule_score(std::string_view plain);

}  // namespace bmad_mem
