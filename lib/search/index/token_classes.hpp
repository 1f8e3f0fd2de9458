// token_classes.hpp - what a character is to the tokenizer.
//
//   g e t U s e r _ 2 ' é ́  東 カ ﾞ €      l lower  U upper  2 digit  _ joint
//   l l l U l l l _ 2 ' l ^  # #  ^  .      ' apostrophe  ^ mark  # unspaced  . other
//
// Threads: pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace bmad_mem
