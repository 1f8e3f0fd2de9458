// disguised.cpp - secrets that a reader sees, and a comparison of bytes doesn't.
//
//   \e[31mghp_Zk3Q…\e[0m          colours of a terminal         dropped
//   ghp_<ZWSP>Zk3Q…               signs without width           dropped
//   g\0h\0p\0_\0Z\0               UTF-16                        NULs dropped
//   \u0067hp_…  &quot;ghp_…       escapes of JSON and HTML      decoded
//   "ghp_Zk3Q" + "w9Lm2X"         literals that code joins      joined
//
//   text ── one byte of a few? ── rarely ──► a sign? ──► its line and those beside it, as read
//                                                           └─► found there ── places ──► text
//
// A clean text costs a look at each byte. Lines with a sign are read once more, so that time stays
// linear.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "bmad_mem/text.hpp"
#include "byte_places.hpp"
#include "finders.hpp"
#include "read_text.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using std::string_view;

constexpr char kEscape = '\x1b';

/// The bytes with which a sign begins, and the '+' between literals.
using SignPlaces = BytePlaces<ByteSet<false, 0x00, 0x1b, 0xc2, 0xe2, 0xef, '&', '+', '\\'>>;

/// Bytes of a text that stand for other ones, or for none.
struct Sign {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< Equal to `begin`: there is none.
  std::array<char, 4> bytes = {};
  std::size_t size = 0;  ///< Of `bytes`.
  bool is_colour = false;

  [[nodiscard]] bool exists() const { return end > begin; }
};

/// The end of the sequence of a terminal that begins at `at`, of ECMA-48; `at` when it is none.
std::size_t terminal_sequence_end(string_view text, std::size_t at) {
  constexpr std::size_t kParametersMax = 64;
  constexpr std::size_t kCommandMax = 2048;
  const auto between = [](char low, char high) {
    return [low, high](char c) { return c >= low && c <= high; };
  };
  const bool is_short = text[at] == kEscape;
  std::size_t next = at + (is_short ? 1 : 2);
  const char kind = is_short ? byte_at(text, next) : '[';
  next += is_short ? 1 : 0;
  if (kind == '[') {
    next = run_end(text, std::min(next, text.size()), between(' ', '?'), kParametersMax);
    return between('@', '~')(byte_at(text, next)) ? next + 1 : next;
  }
  if (kind == ']' || kind == 'P' || kind == '_' || kind == '^') {
    for (std::size_t i = next; i < std::min(text.size(), next + kCommandMax); ++i) {
      if (text[i] == '\a') {
        return i + 1;
      }
      if (text[i] == kEscape || text[i] == '\n') {
        return byte_at(text, i + 1) == '\\' && text[i] == kEscape ? i + 2 : next;
      }
    }
    return next;
  }
  if (between(' ', '/')(kind)) {
    return std::min(next + 1, text.size());
  }
  return between('0', '~')(kind) ? next : at + 1;
}

/// Whether U+`code` has no width: soft hyphen, zero-width signs, marks of direction, BOM.
bool is_invisible(std::uint32_t code) {
  return code == 0xad || (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

/// The character of two or three bytes at `at`, one that may be invisible; 0: another.
std::uint32_t character_at(string_view text, std::size_t at) {
  const auto bits = [&](std::size_t i) {
    return static_cast<unsigned char>(byte_at(text, at + i)) & 0x3fU;
  };
  return text[at] == '\xc2' ? 0x80U | bits(1) : (bits(0) & 0xfU) << 12U | bits(1) << 6U | bits(2);
}

/// Makes `sign` stand for U+`code`, which has at most 16 bits.
void set_character(Sign& sign, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { sign.bytes[sign.size++] = static_cast<char>(byte); };
  if (is_invisible(code) || code == 0) {
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

/// `\u0067`.
Sign json_escape_at(string_view text, std::size_t at) {
  constexpr std::size_t kDigits = 4;
  Sign sign{.begin = at, .end = at};
  if (byte_at(text, at + 1) != 'u') {
    return sign;
  }
  const Number code = number_at(text, at + 2, 16, kDigits);
  const bool is_half = code.value >= 0xd800 && code.value < 0xe000;
  if (code.end == at + 2 + kDigits && !is_half) {
    sign.end = code.end;
    set_character(sign, code.value);
  }
  return sign;
}

/// `&quot;`, `&#103;`, `&#x67;`.
Sign entity_at(string_view text, std::size_t at) {
  struct Entity {
    string_view name;
    char sign;
  };
  static constexpr Entity kEntities[] = {{"amp;", '&'},  {"lt;", '<'},    {"gt;", '>'},
                                         {"quot;", '"'}, {"apos;", '\''}, {"nbsp;", ' '}};
  Sign sign{.begin = at, .end = at};
  const string_view rest = text.substr(at + 1);
  for (const Entity& each : kEntities) {
    if (rest.starts_with(each.name)) {
      sign.end = at + 1 + each.name.size();
      set_character(sign, static_cast<unsigned char>(each.sign));
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

/// `" + "`, also over a line break.
Sign join_at(string_view text, std::size_t at) {
  constexpr std::size_t kJoinBlanksMax = 40;
  const std::size_t open = run_end(text, at + 1, is_space, kJoinBlanksMax);
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

/// The sign that the byte at `at` announces.
Sign sign_at(string_view text, std::size_t at) {
  Sign sign{.begin = at, .end = at};
  switch (text[at]) {
    case '\0':
      sign.end = at + 1;
      return sign;
    case kEscape:
      sign.end = terminal_sequence_end(text, at);
      sign.is_colour = true;
      return sign;
    case '\\':
      return json_escape_at(text, at);
    case '&':
      return entity_at(text, at);
    case '+':
      return join_at(text, at);
    case '\xc2':
      if (byte_at(text, at + 1) == '\x9b') {
        sign.end = terminal_sequence_end(text, at);
        sign.is_colour = true;
        return sign;
      }
      break;
    default:
      break;
  }
  if (is_invisible(character_at(text, at))) {
    sign.end = at + (text[at] == '\xc2' ? 2 : 3);
  }
  return sign;
}

/// The first sign from `at` on; none when there is no other.
Sign next_sign(string_view text, SignPlaces& places, std::size_t at) {
  for (at = places.next(at); at < text.size(); at = places.next(at + 1)) {
    if (const Sign sign = sign_at(text, at); sign.exists()) {
      return sign;
    }
  }
  return {};
}

/// The begin of the line before that of `at`.
std::size_t lines_begin(string_view text, std::size_t at) {
  const std::size_t line = text.substr(0, at).rfind('\n');
  return line == string_view::npos || line == 0 ? 0 : text.rfind('\n', line - 1) + 1;
}

/// Where the line of `at` ends.
std::size_t line_end(string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

/// Some lines as they are read, and where each byte came from.
class ReadLines {
 public:
  ReadLines(string_view text, std::size_t begin, bool drops_colours)
      : text_(text), at_(begin), drops_colours_(drops_colours) {}

  void take(const Sign& sign) {
    copy_to(sign.begin);
    bytes_.cut_to(sign.begin);  // What stands before a '+'.
    if (sign.is_colour && !drops_colours_) {
      bytes_.add(' ', sign.begin, sign.end);
    }
    for (std::size_t i = 0; i < sign.size; ++i) {
      bytes_.add(sign.bytes[i], sign.begin, sign.end);
    }
    at_ = sign.end;
  }

  void copy_to(std::size_t end) {
    for (; at_ < end; ++at_) {
      bytes_.add(text_[at_], at_, at_ + 1);
    }
  }

  void find(const FindSecrets& find, Detections& out) const { bytes_.find(text_, find, out); }

 private:
  string_view text_;
  std::size_t at_;
  bool drops_colours_;
  ReadText bytes_;
};

}  // namespace

void find_disguised(string_view text, const FindSecrets& find, Detections& out) {
  SignPlaces places(text);
  Sign sign = next_sign(text, places, 0);
  while (sign.exists()) {
    const std::size_t begin = lines_begin(text, sign.begin);
    // A colour may stand within a word, or be all that parts two of them: so both ways.
    ReadLines dropped(text, begin, true);
    ReadLines blanked(text, begin, false);
    bool has_colour = false;
    std::size_t line = 0;  // The end of the last line with a sign,
    std::size_t end = 0;   // and of the one after it.
    do {
      has_colour = has_colour || sign.is_colour;
      dropped.take(sign);
      blanked.take(sign);
      if (sign.end > line) {
        line = line_end(text, sign.end);
        end = line_end(text, std::min(line + 1, text.size()));
      }
      sign = next_sign(text, places, sign.end);
    } while (sign.exists() && sign.begin < end);
    dropped.copy_to(end);
    dropped.find(find, out);
    if (has_colour) {
      blanked.copy_to(end);
      blanked.find(find, out);
    }
  }
}

}  // namespace bmad_mem
