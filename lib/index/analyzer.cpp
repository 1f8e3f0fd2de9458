#include "index/analyzer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <libstemmer.h>

#include "bmad_mem/text.hpp"
#include "token_classes.hpp"
#include "token_scanner.hpp"

namespace bmad_mem {
namespace {

struct StemmerDeleter {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};
using Stemmer = std::unique_ptr<sb_stemmer, StemmerDeleter>;

// Each language under the names that Snowball knows it by.
constexpr auto kEnglish = std::to_array<std::string_view>({"english", "en", "eng", "porter"});

// Languages whose articles and pronouns are elided before a vowel: l'eau, dell'acqua.
constexpr auto kEliding = std::to_array<std::string_view>(
    {"french", "fr", "fre", "fra", "italian", "it", "ita", "catalan", "ca", "cat"});

// Languages whose stemmers leave the first two letters of a word of three or more alone.
constexpr auto kSuffixing = std::to_array<std::string_view>(
    {"english", "en",  "eng",        "french", "fr",  "fre",     "fra", "spanish", "es",
     "esl",     "spa", "portuguese", "pt",     "por", "italian", "it",  "ita",     "swedish",
     "sv",      "swe", "norwegian",  "no",     "nor", "danish",  "da",  "dan"});

/// Words have stems; what holds digits or joints is a name, and stays as it is.
bool is_word_character(char c) {
  const CharClass cls = byte_class(c);
  return cls == CharClass::kLower || cls == CharClass::kWide || cls == CharClass::kApostrophe;
}

}  // namespace

struct Analyzer::Impl {
  Impl(std::string_view language, Stemmer stemmer_of_language)
      : stemmer(std::move(stemmer_of_language)),
        ascii_stemmer(is_among(kEnglish, language)
                          ? sb_stemmer_new(std::string(language).c_str(), "ISO_8859_1")
                          : nullptr),
        has_stop_words(is_among(kEnglish, language)),
        keeps_beginnings(is_among(kSuffixing, language)),
        scanner(is_among(kEliding, language)) {}

  /// The one for a token. The same rules, but characters of one byte each: a third of the time.
  [[nodiscard]] sb_stemmer* stemmer_for(bool is_ascii) const {
    return is_ascii && ascii_stemmer != nullptr ? ascii_stemmer.get() : stemmer.get();
  }

  Stemmer stemmer;
  Stemmer ascii_stemmer;  // English only: others may put letters beyond ASCII into a stem.
  bool has_stop_words;
  bool keeps_beginnings;
  TokenScanner scanner;
};

Result<Analyzer> Analyzer::create(std::string_view language) {
  Stemmer stemmer(sb_stemmer_new(std::string(language).c_str(), "UTF_8"));
  if (stemmer == nullptr) {
    std::string known;
    for (const char** name = sb_stemmer_list(); *name != nullptr; ++name) {
      known += known.empty() ? "" : ", ";
      known += *name;
    }
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = fmt::format("\"{}\" is not a language with a stemmer; there are: {}",
                                        language, known),
                 .field = "language"};
  }
  return Analyzer(std::make_unique<Impl>(language, std::move(stemmer)));
}

Analyzer::Analyzer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;
Analyzer::~Analyzer() = default;

std::span<const Token> Analyzer::tokenize(std::string_view text) {
  return impl_->scanner.scan(text);
}

bool Analyzer::keeps_beginnings() const { return impl_->keeps_beginnings; }

std::string_view Analyzer::term(std::string_view token, bool whole) {
  if (!whole && impl_->has_stop_words && is_stop_word(token)) {
    return {};
  }
  bool is_ascii = true;
  for (const char c : token) {
    if (!is_word_character(c)) {
      return token;
    }
    is_ascii = is_ascii && byte_class(c) != CharClass::kWide;
  }
  sb_stemmer* const stemmer = impl_->stemmer_for(is_ascii);
  const sb_symbol* stem = sb_stemmer_stem(stemmer, reinterpret_cast<const sb_symbol*>(token.data()),
                                          static_cast<int>(token.size()));
  if (stem == nullptr) {
    return token;  // No memory.
  }
  const std::string_view term(reinterpret_cast<const char*>(stem),
                              static_cast<std::size_t>(sb_stemmer_length(stemmer)));
  return term.substr(0, whole_characters(term, kTokenSizeMax));  // Turkish stems can be longer.
}

}  // namespace bmad_mem
