// languages.hpp - what the analyzer knows of each language that has stems, and its stop words.
//
// Threads: pure.
#pragma once

#include <string_view>

#include "base/word_list.hpp"

namespace bmad_mem {

struct Language {
  /// The names that Snowball knows it by, apart by blanks; the first one is ours.
  std::string_view names;
  /// Words that say how a sentence is built, not what it is about. What also names a thing (été,
  /// wezen) is left out where it can be. Spelt as tokens are: σ at the end of a word, ss for ß,
  /// without the apostrophe in French, Italian and Catalan.
  const WordList* stop_words = nullptr;
  /// Its articles and pronouns are elided before a vowel: l'eau, dell'acqua.
  bool elides = false;
  /// Its stemmer leaves the first two letters of a word of three or more alone.
  bool keeps_beginnings = false;
  /// Its stemmer has no rules for accents, so they can go first. Elsewhere they are needed: parlé
  /// is parl, and so is parler, but parlee is no French.
  bool folds_first = false;
  /// Stems are stemmed again until they stay: décidée is décid, and decidee only decide. Of 58
  /// French words 54 meet themselves without accents so, else 47; of 22 Hungarian ones 22, else 18.
  /// In the other languages it gains nothing, or takes too much away.
  bool stems_again = false;

  /// "german" of "german de deu ger".
  [[nodiscard]] constexpr std::string_view name() const { return names.substr(0, names.find(' ')); }
};

/// Nothing where Snowball knows the language, and we don't.
const Language* find_language(std::string_view name);

/// Of a language under any of its names; none for one that we don't know.
const WordList& stop_words_of(std::string_view language);

}  // namespace bmad_mem
