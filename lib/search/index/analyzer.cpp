// analyzer.cpp - takes a text apart into tokens, and makes terms of them with Snowball's stemmers.
#include "search/analyzer.hpp"

#include <utility>

#include <fmt/format.h>
#include <libstemmer.h>

#include "bmad_mem/text.hpp"
#include "languages.hpp"
#include "token_classes.hpp"
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
    is_ascii = is_all_ascii(token);
  }
  std::string_view term = impl_->stem(token, is_ascii);
  if (!impl_->language.folds_first) {
    term = without_marks(term, impl_->folded);
  }
  if (impl_->language.stems_again) {
    term = impl_->last_stem(term);
  }
  return term.substr(0, whole_characters(term, kTokenSizeMax));  // Turkish stems can be longer.
}

std::string fold_accents(std::string_view token) {
  std::string buffer;
  return std::string(without_marks(token, buffer));
}

}  // namespace bmad_mem
