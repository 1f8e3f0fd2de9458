// assignment_sieve.hpp - the places of a text at which something may be assigned.
//
//   16 bytes at once ──► a sign or a blank ──► its neighbours ── is_worth_a_look() ──► the finder
//
// Of the operators in code, half fall through the second look, of the blanks nearly all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "bmad_mem/text.hpp"
#include "byte_places.hpp"

namespace bmad_mem {

/// Bytes at which something may begin that assigns: operators anywhere, blanks after some words;
/// the last one is the first of signs of full width. All others are passed over.
using AssigningPlaces =
    BytePlaces<ByteSet<false, '=', ':', '>', '(', '{', ',', '|', '-', ' ', '\t', 0xef>>;

/// The last two letters of the words after which a value may stand without an operator: password,
/// pwd, is, was, pass, secret, ist, lautet, token, key, to, now, --auth, es, psk, ...; in any case.
/// By the low five bits of the first, bits for those of the second.
inline constexpr auto kWordEnds = [] {
  std::array<std::uint32_t, 32> ends = {};
  for (const std::string_view end : {"rd", "wd", "is", "ss", "as", "st", "et", "rt", "en", "ey",
                                     "se", "de", "to", "th", "ow", "by", "es", "sk"}) {
    ends[static_cast<unsigned>(end[0]) & 31U] |= 1U << (static_cast<unsigned>(end[1]) & 31U);
  }
  return ends;
}();

constexpr bool may_name_next(char first, char second) {
  return is_letter(second) && (kWordEnds[static_cast<unsigned char>(first) & 31U] >>
                                   (static_cast<unsigned char>(second) & 31U) &
                               1U) != 0;
}

/// The same by both bytes at once: a bit for each pair, the second one on top.
inline constexpr auto kWordEndPairs = [] {
  std::array<std::uint64_t, (1U << 16U) / 64> pairs = {};
  for (unsigned pair = 0; pair < 1U << 16U; ++pair) {
    if (may_name_next(static_cast<char>(pair & 255U), static_cast<char>(pair >> 8U))) {
      pairs[pair / 64] |= std::uint64_t{1} << (pair % 64);
    }
  }
  return pairs;
}();

/// Whether what stands directly around the byte at `i` allows that it assigns. Sorts most places
/// out, without a call.
[[gnu::always_inline]] inline bool is_worth_a_look(std::string_view text, std::size_t i) {
  if (i == 0 || i + 1 >= text.size()) {
    return false;
  }
  if (is_blank(text[i])) {  // Four of five places.
    if (i < 2) {
      return false;
    }
    std::uint16_t pair = 0;
    std::memcpy(&pair, text.data() + i - 2, sizeof pair);
    return (kWordEndPairs[pair / 64] >> (pair % 64) & 1U) != 0;
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
      return true;
  }
}

}  // namespace bmad_mem
