// languages.cpp - the table of languages with stop words, and the language of a text.
#include "languages.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <ranges>
#include <string>

#include "search/analyzer.hpp"
#include "search_words.hpp"

namespace bmad_mem {
namespace {

constexpr auto kLanguages = std::to_array<Language>({
    {.names = "english en eng porter",
     .stop_words = &kEnglishStopWords,
     .keeps_beginnings = true,
     .folds_first = true},
    {.names = "arabic ar ara", .stop_words = &kArabicStopWords},
    {.names = "armenian hy hye arm", .stop_words = &kArmenianStopWords},
    {.names = "basque eu eus baq", .stop_words = &kBasqueStopWords},
    {.names = "catalan ca cat", .stop_words = &kCatalanStopWords, .elides = true},
    {.names = "danish da dan", .stop_words = &kDanishStopWords, .keeps_beginnings = true},
    {.names = "dutch nl nld dut", .stop_words = &kDutchStopWords},
    {.names = "finnish fi fin", .stop_words = &kFinnishStopWords},
    {.names = "french fr fra fre",
     .stop_words = &kFrenchStopWords,
     .elides = true,
     .keeps_beginnings = true,
     .stems_again = true},
    {.names = "german de deu ger", .stop_words = &kGermanStopWords},
    {.names = "greek el ell gre", .stop_words = &kGreekStopWords},
    {.names = "hindi hi hin", .stop_words = &kHindiStopWords},
    {.names = "hungarian hu hun", .stop_words = &kHungarianStopWords, .stems_again = true},
    {.names = "indonesian id ind", .stop_words = &kIndonesianStopWords},
    {.names = "irish ga gle", .stop_words = &kIrishStopWords},
    {.names = "italian it ita",
     .stop_words = &kItalianStopWords,
     .elides = true,
     .keeps_beginnings = true},
    {.names = "lithuanian lt lit", .stop_words = &kLithuanianStopWords},
    {.names = "nepali ne nep", .stop_words = &kNepaliStopWords},
    {.names = "norwegian no nor", .stop_words = &kNorwegianStopWords, .keeps_beginnings = true},
    {.names = "portuguese pt por", .stop_words = &kPortugueseStopWords, .keeps_beginnings = true},
    {.names = "romanian ro ron rum", .stop_words = &kRomanianStopWords},
    {.names = "russian ru rus", .stop_words = &kRussianStopWords},
    {.names = "serbian sr srp", .stop_words = &kSerbianStopWords},
    {.names = "spanish es spa esl", .stop_words = &kSpanishStopWords, .keeps_beginnings = true},
    {.names = "swedish sv swe", .stop_words = &kSwedishStopWords, .keeps_beginnings = true},
    {.names = "tamil ta tam", .stop_words = &kTamilStopWords},
    {.names = "turkish tr tur", .stop_words = &kTurkishStopWords},
    {.names = "yiddish yi yid", .stop_words = &kYiddishStopWords},
});

/// Whether `name` is one of `names`, which are apart by blanks.
bool has_name(std::string_view names, std::string_view name) {
  return std::ranges::any_of(names | std::views::split(' '), [&](const auto& each) {
    return std::string_view(each.begin(), each.end()) == name;
  });
}

std::ptrdiff_t stop_word_count(const Language& language, std::span<const std::string> words) {
  assert(language.stop_words != nullptr);
  return std::ranges::count_if(
      words, [&](const std::string& word) { return language.stop_words->contains(word); });
}

}  // namespace

const Language* find_language(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kLanguages, [&](const Language& language) { return has_name(language.names, name); });
  return found == kLanguages.end() ? nullptr : found;
}

const WordList& stop_words_of(std::string_view language) {
  static constexpr WordList kNone;
  const Language* const known = find_language(language);
  return known == nullptr ? kNone : *known->stop_words;
}

bool is_stop_word(std::string_view word, std::string_view language) {
  return stop_words_of(language).contains(word);
}

std::string_view language_of(std::span<const std::string> words, std::string_view fallback) {
  constexpr std::ptrdiff_t kCountMin = 2;
  const Language* const known = find_language(fallback);
  std::ptrdiff_t most =
      std::max(kCountMin - 1, known == nullptr ? 0 : stop_word_count(*known, words));
  std::string_view best = fallback;
  for (const Language& language : kLanguages) {
    if (const std::ptrdiff_t count = stop_word_count(language, words); count > most) {
      most = count;
      best = language.name();
    }
  }
  return best;
}

}  // namespace bmad_mem
