// token_folder.hpp - what a character is to the tokenizer, and one spelling for what is written in
// several ways. utf8proc enters here.
//
//   g e t U s e r _ 2 ' é ́  東 カ ﾞ €      l lower  U upper  2 digit  _ joint
//   l l l U l l l _ 2 ' l ^  # #  ^  .      ' apostrophe  ^ mark  # unspaced  . other
//
//   STRASSE Straße  ->  strasse        ＡＢＣ  ->  abc        ﾊﾞ  ->  バ       İzmir  ->  izmir
//   O’Brien         ->  o'brien        ﬁle    ->  file       Σίσυφος -> σίσυφοσ
//
// NFKC with case folding, as Unicode defines it (toNFKC_Casefold), and beyond it: every apostrophe
// is ', the dotted capital I is an i, punctuation that a compatibility form brings along goes.
// Threads: one folder a thread; the rest is pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

enum class CharClass : std::uint8_t {
  kOther,       ///< Ends a word: blanks, punctuation, symbols, emoji, controls, damaged UTF-8.
  kLower,       ///< A letter that is not a capital; also those of scripts without case.
  kUpper,       ///< A capital or title-case letter.
  kDigit,       ///< A digit or other number.
  kJoint,       ///< Holds an identifier together when it stands between word characters.
  kApostrophe,  ///< ' in any of its spellings; part of a word when inside it.
  kMark,        ///< Belongs to the character before: combining marks, joiners, soft hyphens.
  kUnspaced,    ///< A letter of a script that is written without blanks between words.
  kWide,        ///< First or later byte of a character beyond ASCII; wide_at() tells its class.
};

/// Holds identifiers, paths, versions and addresses together.
inline constexpr std::string_view kJoints = "_-./:@+#\\";

constexpr std::array<CharClass, 256> make_byte_classes() {
  std::array<CharClass, 256> classes{};
  for (std::size_t c = 0; c < classes.size(); ++c) {
    classes[c] = c >= 'a' && c <= 'z'   ? CharClass::kLower
                 : c >= 'A' && c <= 'Z' ? CharClass::kUpper
                 : c >= '0' && c <= '9' ? CharClass::kDigit
                 : c >= 0x80            ? CharClass::kWide
                                        : CharClass::kOther;
  }
  for (const char c : kJoints) {
    classes[static_cast<unsigned char>(c)] = CharClass::kJoint;
  }
  classes['\''] = CharClass::kApostrophe;
  return classes;
}
inline constexpr std::array<CharClass, 256> kByteClasses = make_byte_classes();

/// The class of an ASCII character, kWide for a byte of any other.
constexpr CharClass byte_class(char c) { return kByteClasses[static_cast<unsigned char>(c)]; }

/// Whether a word can begin with it.
constexpr bool is_word_class(CharClass c) {
  return c == CharClass::kLower || c == CharClass::kUpper || c == CharClass::kDigit;
}

/// A character of a text.
struct Character {
  CharClass cls = CharClass::kOther;
  std::size_t size = 1;  ///< In bytes; 1 for a byte that is no UTF-8.
};

/// The character beyond ASCII at `at`, which is inside `text`.
Character wide_at(std::string_view text, std::size_t at);

/// The character at `at`; kOther behind the end of `text`.
inline Character character_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) {
    return {};
  }
  const CharClass cls = byte_class(text[at]);
  return cls == CharClass::kWide ? wide_at(text, at) : Character{.cls = cls, .size = 1};
}

class TokenFolder {
 public:
  TokenFolder() = default;
  TokenFolder(const TokenFolder&) = delete;
  TokenFolder& operator=(const TokenFolder&) = delete;

  /// `source`, which is UTF-8, folded and cut to `size_max` bytes. In ASCII it holds lower-case
  /// letters, digits, apostrophes and what joints `source` has, '/' for '\'. Empty when nothing in
  /// `source` is visible. Valid until clear(); kTokenPadding bytes behind it are readable. Reads at
  /// most 4 * size_max bytes of `source`.
  std::string_view fold(std::string_view source, std::size_t size_max);

  /// Forgets all results; keeps the room.
  void clear() { results_.release(); }

 private:
  bool fold_simple(std::string_view source);
  std::size_t append_simple(std::string_view source);
  void fold_any(std::string_view source);
  void append(std::string_view source, std::int32_t code);

  static constexpr std::size_t kRoom = std::size_t{8} << 10U;
  std::array<char, kRoom> room_;  // Enough for most entries; beyond it there is the heap.
  std::pmr::monotonic_buffer_resource results_{room_.data(), room_.size()};
  std::vector<std::int32_t> codes_;
  std::vector<char> folded_;
};

/// A folded token with plain letters: Latin and Greek ones lose their marks and strokes, so that
/// vélo meets velo, smørrebrød smorrebrod, and λύση λυση. Other scripts keep theirs: й is no и, が
/// no か. Never longer than `token`; `token` itself where there is nothing to do, else in `buffer`.
std::string_view without_marks(std::string_view token, std::string& buffer);

}  // namespace bmad_mem
