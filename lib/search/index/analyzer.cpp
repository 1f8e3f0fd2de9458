// analyzer.cpp - takes a text apart into tokens, and makes terms of them with Snowball's stemmers;
// what it knows of each language that has stems, and the language of a text.
#include "search/analyzer.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <libstemmer.h>

#include "bmad_mem/text.hpp"
#include "search_words.hpp"
#include "token_folder.hpp"
#include "token_scanner.hpp"

namespace bmad_mem {
namespace {

struct StemmerDeleter {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};
using Stemmer = std::unique_ptr<sb_stemmer, StemmerDeleter>;

/// Words have stems; what holds digits or joints is a name, and stays as it is.
bool is_word_character(char c) {
  const CharClass cls = byte_class(c);
  return cls == CharClass::kLower || cls == CharClass::kWide || cls == CharClass::kApostrophe;
}

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

/// Nothing where Snowball knows the language, and we don't.
const Language* find_language(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kLanguages, [&](const Language& language) { return has_name(language.names, name); });
  return found == kLanguages.end() ? nullptr : found;
}

}  // namespace

struct Analyzer::Impl {
  /// `name` is one of those of `rules`; porter is another stemmer than english.
  Impl(std::string_view name, const Language& rules, Stemmer stemmer_of_language)
      : stemmer(std::move(stemmer_of_language)),
        ascii_stemmer(rules.name() == "english"
                          ? sb_stemmer_new(std::string(name).c_str(), "ISO_8859_1")
                          : nullptr),
        language(rules),
        stop_words(stop_words_of(rules.name())),
        scanner(rules.elides) {}

  /// `word` without what its language adds at the end. Valid until the next call; `word` itself
  /// when there is no memory.
  [[nodiscard]] std::string_view stem(std::string_view word, bool is_ascii) const {
    // The same rules, but characters of one byte each: a third of the time.
    sb_stemmer* const chosen =
        is_ascii && ascii_stemmer != nullptr ? ascii_stemmer.get() : stemmer.get();
    const sb_symbol* stem = sb_stemmer_stem(chosen, reinterpret_cast<const sb_symbol*>(word.data()),
                                            static_cast<int>(word.size()));
    return stem == nullptr ? word
                           : std::string_view(reinterpret_cast<const char*>(stem),
                                              static_cast<std::size_t>(sb_stemmer_length(chosen)));
  }

  /// The stem of `stem_of_word`, its stem, and so on, until nothing changes any more.
  std::string_view last_stem(std::string_view stem_of_word) {
    constexpr int kRoundsMax = 4;
    std::string_view last = stem_of_word;
    for (int round = 0; round < kRoundsMax; ++round) {
      before.assign(last);
      last = without_marks(stem(before, false), folded);
      if (last == before) {
        break;
      }
    }
    return last;
  }

  Stemmer stemmer;
  Stemmer ascii_stemmer;  // English only: others may put letters beyond ASCII into a stem.
  Language language;
  const WordList& stop_words;
  TokenScanner scanner;
  std::string folded;  // The term, where it is neither the token nor the stem.
  std::string before;  // What is stemmed again.
};

Result<Analyzer> Analyzer::create(std::string_view language) {
  Stemmer stemmer(sb_stemmer_new(std::string(language).c_str(), "UTF_8"));
  if (stemmer == nullptr) {
    std::string known;
    for (const char** name = sb_stemmer_list(); *name != nullptr; ++name) {
      known += known.empty() ? "" : ", ";
      known += *name;
    }
    return field_error(
        ErrorCode::E_SCHEMA_INVALID, "language",
        fmt::format("\"{}\" is not a language with a stemmer; there are: {}", language, known));
  }
  const Language* const known = find_language(language);
  return Analyzer(
      std::make_unique<Impl>(language, known == nullptr ? Language() : *known, std::move(stemmer)));
}

Analyzer::Analyzer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer::~Analyzer() = default;

std::span<const Token> Analyzer::tokenize(std::string_view text) {
  return impl_->scanner.scan(text);
}

bool Analyzer::keeps_beginnings() const { return impl_->language.keeps_beginnings; }

std::string_view Analyzer::term(std::string_view token, bool whole) {
  if (!whole && impl_->stop_words.contains(token)) {
    return {};
  }
  bool is_ascii = true;
  for (const char c : token) {
    if (!is_word_character(c)) {
      return without_marks(token, impl_->folded);
    }
    is_ascii = is_ascii && byte_class(c) != CharClass::kWide;
  }
  if (!is_ascii && impl_->language.folds_first) {
    token = without_marks(token, impl_->folded);
    is_ascii = std::ranges::all_of(token, bmad_mem::is_ascii);
  }
  std::string_view term = impl_->stem(token, is_ascii);
  if (!impl_->language.folds_first) {
    term = without_marks(term, impl_->folded);
  }
  if (impl_->language.stems_again) {
    term = impl_->last_stem(term);
  }
  return utf8_prefix(term, kTokenSizeMax);  // Turkish stems can be longer.
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

std::string fold_accents(std::string_view token) {
  std::string buffer;
  return std::string(without_marks(token, buffer));
}

}  // namespace bmad_mem
