// signs.cpp - finds bytes that are read as others or as none: escapes, colours, joined literals.
//
//   text ── one byte of a few? ──► do the bytes near it allow a sign? ── rarely ──► sign_at()

#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <cstdint>
#include <utility>

#include "bmad_mem/text.hpp"
#include "byte_places.hpp"
#include "knowledge/prompt_text.hpp"
#include "privacy_words.hpp"
#include "read_text.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using std::string_view;

constexpr char kEscape = '\x1b';

/// The bytes with which a sign begins, and what joins literals and parts. Ranges take a comparison
/// each: controls and all beyond ASCII; "{|}~" and DEL; "+,-.".
struct SignBytes {
  static auto in(ByteBlock block) {
    const auto bytes = std::bit_cast<SignedBlock>(block);
    const auto ends = (bytes < std::bit_cast<SignedBlock>(block_of(' '))) |
                      (bytes > std::bit_cast<SignedBlock>(block_of('z')));
    return ends | ((block - block_of('+')) < block_of(4)) |
           ByteSet<false, '&', '=', '\\'>::in(block);
  }
  static constexpr bool has(unsigned char c) {
    return c < ' ' || c > 'z' || string_view("+,-.&=\\").contains(static_cast<char>(c));
  }
};
using SignPlaces = BytePlaces<SignBytes>;

/// The end of the sequence of a terminal that begins at `at`, in one byte or two.
std::size_t terminal_sequence_end(string_view text, std::size_t at) {
  const bool is_short = text[at] == kEscape;
  const std::size_t begin = at + (is_short ? 1 : 2);
  return begin + sequence_size(is_short ? U'\x1b' : U'\x9b', text.substr(begin));
}

/// The character beyond ASCII whose first byte is at `at`, and its size; 0: another byte.
std::uint32_t character_at(string_view text, std::size_t at, std::size_t& size) {
  const auto first = static_cast<unsigned char>(text[at]);
  size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (size == 0 || at + size > text.size()) {
    return 0;
  }
  std::uint32_t code = first & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    code = code << 6U | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
  }
  return code;
}

/// The letter of ASCII that U+`code` looks like: one of full width, or of another alphabet beside
/// those of this one; '\0': none.
char look_alike(string_view text, std::size_t at, std::size_t size, std::uint32_t code) {
  assert(size > 0 && at + size <= text.size());
  if (code >= 0xff0d && code <= 0xff5a) {
    const char c = static_cast<char>(code - 0xfee0);
    return is_word_byte(c) || c == '-' ? c : '\0';
  }
  if (code < 0x370 || code > 0x52f ||
      !(is_word_byte(byte_before(text, at)) || is_word_byte(byte_at(text, at + size)))) {
    return '\0';
  }
  for (const string_view row : kLookAlikes.words()) {
    if (row.starts_with(text.substr(at, size))) {
      return row.back();
    }
  }
  return '\0';
}

/// Makes `sign` stand for U+`code`, which has at most 16 bits.
void set_character(Sign& sign, std::uint32_t code) {
  assert(code <= 0xffff && sign.size == 0);
  const auto add = [&](std::uint32_t byte) { sign.bytes[sign.size++] = static_cast<char>(byte); };
  if (is_unseen(code) || code == 0) {
    return;
  }
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0U | code >> 6U);
    add(0x80U | (code & 0x3fU));
  } else {
    add(0xe0U | code >> 12U);
    add(0x80U | (code >> 6U & 0x3fU));
    add(0x80U | (code & 0x3fU));
  }
}

/// The number that digits from `at` on spell, and where they end.
struct Number {
  std::uint32_t value = 0;
  std::size_t end = 0;
};
Number number_at(string_view text, std::size_t at, int base, std::size_t digits_max) {
  Number number{.end = at};
  text = text.substr(std::min(at, text.size()), digits_max);
  const char* const end = text.data() + text.size();
  number.end += static_cast<std::size_t>(std::from_chars(text.data(), end, number.value, base).ptr -
                                         text.data());
  return number;
}

/// `\u0067`, `\u{67}`, `\x67`, `\147`, and a backslash before a line break.
Sign escape_at(string_view text, std::size_t at) {
  Sign sign{.begin = at, .end = at};
  const char kind = byte_at(text, at + 1);
  if (kind == 'u') {
    const bool is_braced = byte_at(text, at + 2) == '{';
    const Number code = number_at(text, at + (is_braced ? 3 : 2), 16, 4);
    const bool is_half = code.value >= 0xd800 && code.value < 0xe000;
    const bool is_whole = is_braced ? byte_at(text, code.end) == '}' : code.end == at + 6;
    if (is_whole && !is_half) {
      sign.end = code.end + (is_braced ? 1 : 0);
      set_character(sign, code.value);
    }
    return sign;
  }
  const std::size_t line = run_end(text, at + 1, [](char c) { return c == '\r'; }, 1);
  if (byte_at(text, line) == '\n') {
    // A shell keeps the blank before it; a token in two parts has none.
    sign.begin = blanks_begin(text, at, 4);
    sign.is_part = sign.begin < at;
    sign.end = blanks_end(text, line + 1, 64);
    return sign;
  }
  const bool is_hex = kind == 'x';
  const Number code = is_hex ? number_at(text, at + 2, 16, 2) : number_at(text, at + 1, 8, 3);
  if (code.end == at + 4 && code.value > ' ' && code.value <= '~') {
    sign.end = code.end;
    sign.is_part = true;
    set_character(sign, code.value);
  }
  return sign;
}

/// `&quot;`, `&#103;`, `&#x67;`.
Sign entity_at(string_view text, std::size_t at) {
  static constexpr std::pair<string_view, char> kEntities[] = {
      {"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}, {"nbsp;", ' '}};
  Sign sign{.begin = at, .end = at};
  const string_view rest = text.substr(at + 1);
  for (const auto& [name, character] : kEntities) {
    if (rest.starts_with(name)) {
      sign.end = at + 1 + name.size();
      set_character(sign, static_cast<unsigned char>(character));
      return sign;
    }
  }
  if (!rest.starts_with('#')) {
    return sign;
  }
  const bool is_hex = to_lower(byte_at(rest, 1)) == 'x';
  const std::size_t digits = at + 2 + (is_hex ? 1 : 0);
  const Number code = number_at(text, digits, is_hex ? 16 : 10, 5);
  if (code.end > digits && byte_at(text, code.end) == ';' && code.value <= 0xffff) {
    sign.end = code.end + 1;
    set_character(sign, code.value);
  }
  return sign;
}

/// `" + "`, `' . '`, `" .. "`, `" & "`, also over a line break.
Sign join_at(string_view text, std::size_t at) {
  constexpr std::size_t kJoinBlanksMax = 40;
  const std::size_t last = at + (text.substr(at).starts_with("..") ? 2 : 1);
  const std::size_t open = run_end(text, last, is_space, kJoinBlanksMax);
  const char quote = byte_at(text, open);
  Sign sign{.begin = at, .end = at};
  // At the begin of a line it is the mark of a diff.
  if (is_quote(quote) && byte_before(text, at) != '\n') {
    const std::size_t close = run_begin(text, at, is_space, kJoinBlanksMax);
    if (close > 1 && text[close - 1] == quote && text[close - 2] != '\\') {
      sign.begin = close - 1;
      sign.end = open + 1;
    }
  }
  return sign;
}

/// Bytes of a token before and after what parts it.
constexpr std::size_t kTokenPartMin = 8;

/// What parts a token: a line break with what stands before the next line, or a value put in.
Sign part_at(string_view text, std::size_t at) {
  assert(text[at] == '\n' || text[at] == '{');
  constexpr std::size_t kMarginMax = 12;
  Sign sign{.begin = at, .end = at, .is_part = true};
  const bool is_line = text[at] == '\n';
  const std::size_t begin = run_begin(
      text, at,
      [&](char c) { return is_line ? c == '\r' || c == '=' : c == '{' || c == '$' || c == '#'; },
      2);
  const std::size_t first = run_begin(text, begin, is_base64url, kTokenPartMin);
  if (begin - first < kTokenPartMin) {
    return sign;
  }
  std::size_t end = at + 1;
  if (is_line) {
    end = run_end(
        text, end, [](char c) { return !is_letter(c) && is_ascii(c) && c != '\n'; }, kMarginMax);
    // Digits right before the token are its own.
    end = run_begin(text, end, is_digit, end - at - 1);
  } else {
    const std::size_t close = text.substr(at, kMarginMax).find('}');
    end = close == string_view::npos
              ? text.size()
              : run_end(text, at + close, [](char c) { return c == '}'; }, 2);
  }
  const std::size_t last = run_end(text, std::min(end, text.size()), is_base64url, kTokenPartMin);
  // A capital begins the word of a sentence as well.
  const auto is_telling = [](char c) { return is_digit(c) || is_upper(c); };
  if (last == end + kTokenPartMin &&
      (any_is(text.substr(first + 1, kTokenPartMin - 1), is_telling) ||
       any_is(text.substr(end + 1, kTokenPartMin - 1), is_telling))) {
    sign.begin = begin;
    sign.end = end;
  }
  return sign;
}

/// The character of a list, or its number, at `at`; `end` is 0 where there is none.
Number list_item_at(string_view text, std::size_t at) {
  if (is_quote(byte_at(text, at))) {
    return byte_at(text, at + 2) == text[at]
               ? Number{.value = static_cast<unsigned char>(text[at + 1]), .end = at + 3}
               : Number{};
  }
  const bool is_hex = text.substr(std::min(at, text.size())).starts_with("0x");
  const Number number = number_at(text, at + (is_hex ? 2 : 0), is_hex ? 16 : 10, 3);
  return number.value > ' ' && number.value <= '~' && number.end > at + 1 ? number : Number{};
}

/// Where the list ends that has its first ',' at `at`.
std::size_t find_in_list(string_view text, std::size_t at, Detections& out) {
  assert(at < text.size() && text[at] == ',');
  constexpr std::size_t kListMin = 48;
  std::size_t begin = run_begin(text, at, [](char c) { return is_hex_digit(c) || c == 'x'; }, 4);
  if (begin == at) {
    begin = at > 2 && is_quote(text[at - 1]) && text[at - 3] == text[at - 1] ? at - 3 : at;
  }
  ReadText items;
  std::size_t next = begin;
  for (Number item = list_item_at(text, begin); item.end != 0; item = list_item_at(text, next)) {
    items.add(static_cast<char>(item.value), next, item.end);
    next = item.end;
    if (byte_at(text, next) != ',') {
      break;
    }
    next = run_end(text, next + 1, is_space, 40);
  }
  if (next - begin >= kListMin) {
    items.find(text, find_tokens, out);
  }
  return std::max(at + 1, std::min(next, text.size()));
}

/// The sign that the byte at `at` announces.
Sign sign_at(string_view text, std::size_t at) {
  Sign sign{.begin = at, .end = at};
  const char after = byte_at(text, at + 1);
  switch (text[at]) {
    case '\0':
    case '\b':
      sign.end = at + 1;
      sign.is_erased = text[at] == '\b';
      return sign;
    case kEscape:
      sign.end = terminal_sequence_end(text, at);
      sign.is_colour = true;
      return sign;
    case '\\':
      return escape_at(text, at);
    case '&':
      sign = entity_at(text, at);
      return sign.exists() ? sign : join_at(text, at);
    case '+':
    case '.':
    case '~':
      return join_at(text, at);
    case '\n':
    case '{':
      return part_at(text, at);
    case '=':
      // Quoted-printable.
      if (is_hex_digit(after) && is_hex_digit(byte_at(text, at + 2)) && !is_lower(after)) {
        const Number code = number_at(text, at + 1, 16, 2);
        sign.end = code.value > ' ' && code.value <= '~' ? code.end : at;
        sign.is_part = true;
        set_character(sign, code.value);
      }
      return sign;
    default:
      break;
  }
  if (text[at] == '\xc2' && after == '\x9b') {
    sign.end = terminal_sequence_end(text, at);
    sign.is_colour = true;
    return sign;
  }
  std::size_t size = 0;
  const std::uint32_t code = character_at(text, at, size);
  if (is_unseen(code)) {
    sign.end = at + size;
  } else if (const char letter = code == 0 ? '\0' : look_alike(text, at, size, code);
             letter != '\0') {
    sign.end = at + size;
    set_character(sign, static_cast<unsigned char>(letter));
  }
  return sign;
}

constexpr bool is_visible(char c) { return c > ' '; }

/// Whether the byte at `at`, one of SignBytes, may be a sign or begin a list: most are not, and are
/// decided by the bytes near them, without a call.
[[gnu::always_inline]] inline bool may_be_sign(string_view text, std::size_t at) {
  const char before = byte_before(text, at);
  switch (text[at]) {
    case '.':
      return !is_alnum(before);
    case '\n':  // There may be "=\r" between it and the token.
      return at >= kTokenPartMin && (is_base64url(before) || before == '\r' || before == '=') &&
             all_are({text.data() + at - kTokenPartMin, kTokenPartMin - 2}, is_visible);
    case ',': {
      const char after = byte_at(text, at + (byte_at(text, at + 1) == ' ' ? 2 : 1));
      return !is_letter(after) && (is_quote(before) || is_hex_digit(before)) &&
             (is_digit(after) || is_quote(after) || is_space(after));
    }
    case '-':
    case '|':
    case '}':
    case '\t':
    case '\r':
      return false;
    default:
      return true;
  }
}

/// Reads the sign at `at` into `sign`, or a list into `out`, and returns where to look next: at the
/// end when there is one. Not inlined, so that the look for them stays small.
[[gnu::noinline]] std::size_t read_sign(string_view text, std::size_t at, Sign& sign,
                                        Detections& out) {
  if (text[at] == ',') {
    return find_in_list(text, at, out);
  }
  sign = sign_at(text, at);
  return sign.exists() ? text.size() : at + 1;
}

}  // namespace

Sign next_sign(string_view text, std::size_t from, Detections& out) {
  Sign sign;
  SignPlaces(text).for_each(
      [&](std::size_t at) {
        return may_be_sign(text, at) ? read_sign(text, at, sign, out) : at + 1;
      },
      from);
  assert(!sign.exists() || (sign.end > from && sign.end <= text.size()));
  return sign;
}

}  // namespace bmad_mem
