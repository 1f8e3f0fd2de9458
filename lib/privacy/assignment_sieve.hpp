// assignment_sieve.hpp - the places of a text at which something may be assigned, at about a
// nanosecond a byte.
//
//   byte and the two before ── tables ──► its neighbours ── is_worth_a_look() ──► the finder
//
// Most of a text falls through the tables; of the operators in code, half through the second look.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bmad_mem/text.hpp"

namespace bmad_mem {

/// Bytes at which something may begin that assigns: operators anywhere, blanks after some words.
/// All others are passed over.
inline constexpr unsigned kOperator = 1;
inline constexpr unsigned kBlank = 2;
inline constexpr auto kMayAssign = [] {
  std::array<std::uint8_t, 256> may = {};
  for (const char c : std::string_view("=:>({,|-")) {
    may[static_cast<unsigned char>(c)] = kOperator;
  }
  may[' '] = may['\t'] = kBlank;
  return may;
}();

/// The last two letters of the words after which a value may stand without an operator: password,
/// pwd, is, was, pass, secret, ist, lautet, token, key, to, now, --auth, ...; in any case. By the
/// low five bits of the first, bits for those of the second.
inline constexpr auto kWordEnds = [] {
  std::array<std::uint32_t, 32> ends = {};
  for (const std::string_view end : {"rd", "wd", "is", "ss", "as", "st", "et", "rt", "en", "ey",
                                     "se", "de", "to", "th", "ow", "by"}) {
    ends[static_cast<unsigned>(end[0]) & 31U] |= 1U << (static_cast<unsigned>(end[1]) & 31U);
  }
  return ends;
}();

/// The low five bits of the last two bytes before a place.
inline constexpr unsigned kPairCount = 1U << 10U;
constexpr unsigned next_pair(unsigned pair, char c) {
  return (pair << 5U | (static_cast<unsigned char>(c) & 31U)) % kPairCount;
}

/// What may assign after two bytes.
inline constexpr auto kMayFollow = [] {
  std::array<std::uint8_t, kPairCount> may = {};
  for (unsigned pair = 0; pair < kPairCount; ++pair) {
    const bool is_word_end = (kWordEnds[pair >> 5U] >> (pair & 31U) & 1U) != 0;
    may[pair] = kOperator | (is_word_end ? kBlank : 0);
  }
  return may;
}();

inline bool may_name_next(char first, char second) {
  return is_letter(second) && (kWordEnds[static_cast<unsigned char>(first) & 31U] >>
                                   (static_cast<unsigned char>(second) & 31U) &
                               1U) != 0;
}

/// Whether what stands directly around the byte at `i` allows that it assigns. Sorts most places
/// out, without a call.
inline bool is_worth_a_look(std::string_view text, std::size_t i) {
  if (i == 0 || i + 1 >= text.size()) {
    return false;
  }
  const char before = text[i - 1];
  const char after = text[i + 1];
  switch (text[i]) {
    case ' ':
    case '\t':
      return i >= 2 && may_name_next(text[i - 2], before);
    case ':':
      return after != ':' && before != ':' &&
             !(after == '/' && i + 2 < text.size() && text[i + 2] == '/');
    case '>':
      return before == '-' ? is_blank(after) || is_quote(after) : !is_space(after);
    case '(':
    case '{':
      return is_quote(after) || after == '\\' || is_blank(after);
    case ',':
      return is_quote(before);
    case '|':
      return after == '|' || is_blank(after);
    case '-':
      return is_blank(before) && (after == 'p' || after == 'u' || after == 'a' || after == 'w');
    default:
      return true;
  }
}

}  // namespace bmad_mem
