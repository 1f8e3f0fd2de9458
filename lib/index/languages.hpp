// languages.hpp - what the analyzer knows of each language that has stems, and its stop words.
//
// Threads: pure.
#pragma once

#include <string_view>

namespace bmad_mem {

struct Language {
  /// The names that Snowball knows it by, apart by blanks; the first one is ours.
  std::string_view names;
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

/// The stop words of a language under our name, apart by one blank each, for is_in_list(). Empty
/// for one that we don't know.
std::string_view stop_words_of(std::string_view language);

/// Whether `word` is in a sorted list of words.
bool is_in_list(std::string_view list, std::string_view word);

/// As is_in_list() with those of English; several times as fast.
bool is_english_stop_word(std::string_view word);

}  // namespace bmad_mem
