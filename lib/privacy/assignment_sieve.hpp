// assignment_sieve.hpp - the places of a text at which something may be assigned.
//
//   16 bytes at once ──► a sign or a blank ──► its neighbours ── is_worth_a_look() ──► the finder
//
// Of the operators in code, half fall through the second look, of the blanks nearly all.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "bmad_mem/text.hpp"
#include "byte_places.hpp"

namespace bmad_mem {

/// Bytes at which something may begin that assigns: operators anywhere, blanks after some words;
/// the last one is the first of signs of full width. All others are passed over, but ';' and '<',
/// which lie amid a range that takes one comparison.
struct AssigningBytes {
  using Others = ByteSet<false, '(', ',', '-', ' ', '\t', 0xef>;
  static auto in(ByteBlock block) {
    return Others::in(block) | ((block - block_of(':')) < block_of(5)) |
           ((block - block_of('{')) < block_of(2));
  }
  static constexpr bool has(unsigned char c) {
    return Others::has(c) || (c >= ':' && c <= '>') || c == '{' || c == '|';
  }
};
using AssigningPlaces = BytePlaces<AssigningBytes>;

/// The last letters of the words after which a value may stand without an operator, in any case:
/// password (also "passwrd", "passwird"), pwd, pass, passphrase, passcode, secret, token, key, psk,
/// --auth; is, was, to, as, now, ist, lautet, es, est; by. ' ' is any sign: "is", but not "this".
inline constexpr std::string_view kWordEnds[] = {
    "ord", "wrd", "ird", "ort", "pwd", "swd", "ass", "ase", "ode", "ret", "ken", "key",
    "psk", "uth", " is", "was", " to", " as", "now", "ist", "tet", " es", "est", " by"};

/// A bit for each two last letters of any case, the second one on top.
inline constexpr auto kWordEndPairs = [] {
  std::array<std::uint64_t, (1U << 16U) / 64> pairs = {};
  for (const std::string_view end : kWordEnds) {
    for (const unsigned ways : {0U, 0x20U, 0x2000U, 0x2020U}) {
      const unsigned pair =
          (static_cast<unsigned>(end[1]) | static_cast<unsigned>(end[2]) << 8U) ^ ways;
      pairs[pair / 64] |= std::uint64_t{1} << (pair % 64);
    }
  }
  return pairs;
}();

/// By the low five bits of two last letters, bits for those of the letter before them; bit 0 is for
/// any sign.
constexpr std::size_t word_end_number(char first, char last) {
  return (static_cast<unsigned char>(first) & 31U) << 5U | (static_cast<unsigned char>(last) & 31U);
}
inline constexpr auto kBeforeWordEnds = [] {
  std::array<std::uint32_t, 1U << 10U> before = {};
  for (const std::string_view end : kWordEnds) {
    before[word_end_number(end[1], end[2])] |= 1U << (static_cast<unsigned char>(end[0]) & 31U);
  }
  return before;
}();

/// Whether one of kWordEnds ends before `i`.
[[gnu::always_inline]] inline bool follows_word_end(std::string_view text, std::size_t i) {
  if (i < 2) {
    return false;
  }
  std::uint16_t pair = 0;
  assert(i <= text.size());
  std::memcpy(&pair, text.data() + i - 2, sizeof pair);
  if ((kWordEndPairs[pair / 64] >> (pair % 64) & 1U) == 0) {
    return false;  // Four of five.
  }
  const char before = i < 3 ? ' ' : text[i - 3];
  const unsigned letter = is_letter(before) ? static_cast<unsigned char>(before) & 31U : 0U;
  return (kBeforeWordEnds[word_end_number(text[i - 2], text[i - 1])] >> letter & 1U) != 0;
}

/// Whether what stands directly around the byte at `i` allows that it assigns. Sorts most places
/// out, without a call.
[[gnu::always_inline]] inline bool is_worth_a_look(std::string_view text, std::size_t i) {
  if (i == 0 || i + 1 >= text.size()) {
    return false;
  }
  if (is_blank(text[i])) {  // Four of five places.
    return follows_word_end(text, i);
  }
  const char before = text[i - 1];
  const char after = text[i + 1];
  switch (text[i]) {
    case ':':
      return after != ':' && before != ':' &&
             !(after == '/' && i + 2 < text.size() && text[i + 2] == '/');
    case '>':
      return before == '-'     ? is_blank(after) || is_quote(after)
             : is_space(after) ? after == '\n' && is_letter(before)
                               : true;
    case '(':
    case '{':
      return is_quote(after) || after == '\\' || is_blank(after);
    case ',':
      return is_quote(before);
    case '|':
      return after == '|' || is_blank(after);
    case '-':
      return is_blank(before) && std::string_view("puawPUAXkoh").contains(after);
    case '\xef':
      return after == '\xbc' && i + 2 < text.size() &&
             (text[i + 2] == '\x9a' || text[i + 2] == '\x9d');
    default:
      return text[i] == '=';
  }
}

}  // namespace bmad_mem
