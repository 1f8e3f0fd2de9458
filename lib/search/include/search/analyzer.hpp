// analyzer.hpp - text to terms, the same for entries and for queries.
//
//   "Don't use getUserById() in src/auth.ts, Caroline's PR #42"
//   tokens   don't  use  getuserbyid get user by id  in  src/auth.ts src auth ts  caroline  pr  42
//   terms    .      use  getuserbyid get user .  id  .   src/auth.ts src auth ts  carolin   pr  42
//
// The tokenizer breaks text at what is neither letter nor digit (Unicode). Identifiers, paths,
// versions, error codes and URLs are kept whole and also split at joints (_-./:@+#\) and changes of
// case; hyphenated words are split only. "v1.2" is "1.2"; C++ and C# keep their endings. In
// Chinese, Japanese, Thai, Lao, Burmese and Khmer, which are written without blanks, each two
// neighbouring characters are a token. Emoji and other symbols are no words.
//
// Tokens are lower-cased (NFKC case folding outside ASCII); the possessive 's goes, and in French,
// Italian and Catalan an apostrophe parts words. A term is a token that is no stop word, with its
// Snowball stem; tokens with digits or joints are not stemmed. Terms have no accents: Latin and
// Greek letters lose their marks and strokes (vélo is velo, ø is o, æ is ae), other scripts keep
// theirs. The stop words are those of the analyzer's language.
//
// Terms are UTF-8 of at most kTokenSizeMax bytes and stand in JSON without escapes: no quotation
// marks, backslashes (a path has / for \) or controls. They hold no upper-case ASCII letter: filter
// terms ("TYPE:decision") start with one.
//
// Pure: touches no file and keeps no state but buffers. Threads: one analyzer a thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/word_list.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Changes whenever the same entry could give other keys; stands in the index.
inline constexpr int kAnalyzerVersion = 3;

/// A token in a text.
struct Token {
  std::string_view text;     ///< Lower-cased, not stemmed; cut to kTokenSizeMax. Never empty.
  std::uint32_t offset = 0;  ///< Of its first byte in the analyzed text.
  std::uint32_t size = 0;    ///< Bytes in the analyzed text, also where `text` is cut.
  bool whole = false;        ///< Several parts kept together; its parts follow it.
};

/// How many bytes behind a token's text are readable, whatever they hold: who hashes tokens takes
/// eight bytes at once.
inline constexpr std::size_t kTokenPadding = 8;

/// Longest token in bytes. Longer ones (base64, hashes of hashes) are no words and are cut; longer
/// wholes are left out, their parts stay.
inline constexpr std::size_t kTokenSizeMax = 64;

class Analyzer {
 public:
  /// `language` is a Snowball name such as "english" or "german". Errors: E_SCHEMA_INVALID, listing
  /// the languages there are.
  static Result<Analyzer> create(std::string_view language);

  Analyzer(Analyzer&&) noexcept;
  ~Analyzer();

  /// The tokens of `text` in order of their offsets, a whole before its parts. Valid until the next
  /// call; `text` is not needed any more. At most 4 GiB - 1 bytes; bytes that are no UTF-8 are
  /// gaps. About 3 ns a byte.
  std::span<const Token> tokenize(std::string_view text);

  /// The term of a token's text: its stem, or nothing for a stop word. Valid until the next call,
  /// and as long as `token`. Takes about 0.2 us for a stem: keep terms rather than ask twice.
  std::string_view term(std::string_view token, bool whole);

  /// Whether a term always begins with the first two bytes of its token where these are ASCII: most
  /// languages change the ends of words only, and then a token that begins otherwise need not be
  /// stemmed to be told apart. Letters beyond ASCII lose their accents.
  [[nodiscard]] bool keeps_beginnings() const;

 private:
  struct Impl;
  explicit Analyzer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Of a language under any of its names; none for one that we don't know.
const WordList& stop_words_of(std::string_view language);

/// Whether `word`, a token's text, is a function word of the language: an article, a pronoun, a
/// preposition, a conjunction, an auxiliary. Never for a language without stop words.
bool is_stop_word(std::string_view word, std::string_view language = "english");

/// The language, as Analyzer::create() knows it, whose stop words the most of `words` are: at least
/// two, and more than of `fallback`; else `fallback` itself. `words` are texts of tokens. Takes
/// about 1 us a word.
std::string_view language_of(std::span<const std::string> words, std::string_view fallback);

/// A token's text, or its beginning, with the letters that terms have: without accents.
std::string fold_accents(std::string_view token);

}  // namespace bmad_mem
