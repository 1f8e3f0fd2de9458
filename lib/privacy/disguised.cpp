// disguised.cpp - secrets that a reader sees, and a comparison of bytes doesn't.
//
//   \e[31mghp_Zk3Q…\e[0m          colours of a terminal         dropped
//   ghp_<ZWSP>Zk3Q…               signs without width           dropped
//   g\0h\0p\0_\0Z\0               UTF-16                        NULs dropped
//   \u0067hp_…  &quot;ghp_…       escapes of JSON and HTML      decoded
//   "ghp_Zk3Q" + "w9Lm2X"         literals that code joins      joined
//   gһp_  ｇｈｐ_                   letters that look alike       read as those of ASCII
//   ghp_Zk3Q⏎w9Lm2X  ghp_${x}Zk3  a token in two parts          joined, for tokens alone
//   'g', 'h', 'p'  103, 104, 112  lists of characters, of bytes read as a text, for tokens alone
//
//   text ── one byte of a few? ── rarely ──► a sign? ──► its line and those beside it, as read
//                                                           └─► found there ── places ──► text
//
// A clean text costs a look at each byte. Lines with a sign are read once more, so that time stays
// linear.
#include <algorithm>
#include <cstddef>

#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "read_text.hpp"
#include "signs.hpp"

namespace bmad_mem {
namespace {

using std::string_view;

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
    if (sign.is_erased) {
      bytes_.drop_last();
    }
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
  Sign sign = next_sign(text, 0, out);
  while (sign.exists()) {
    const std::size_t begin = lines_begin(text, sign.begin);
    // A colour may stand within a word, or be all that parts two of them: so both ways. Joined
    // parts are read for tokens alone.
    ReadLines dropped(text, begin, true);
    ReadLines blanked(text, begin, false);
    ReadLines joined(text, begin, true);
    bool has_colour = false;
    bool has_parts = false;
    bool has_others = false;
    std::size_t line = 0;  // The end of the last line with a sign,
    std::size_t end = 0;   // and of the one after it.
    do {
      has_colour = has_colour || sign.is_colour;
      (sign.is_part ? has_parts : has_others) = true;
      joined.take(sign);
      if (!sign.is_part) {
        dropped.take(sign);
        blanked.take(sign);
      }
      if (sign.end > line) {
        line = line_end(text, sign.end);
        end = line_end(text, std::min(line + 1, text.size()));
      }
      sign = next_sign(text, sign.end, out);
    } while (sign.exists() && sign.begin < end);
    if (has_parts) {
      joined.copy_to(end);
      joined.find(find_tokens, out);
    }
    if (has_others) {
      dropped.copy_to(end);
      dropped.find(find, out);
    }
    if (has_colour) {
      blanked.copy_to(end);
      blanked.find(find, out);
    }
  }
}

}  // namespace bmad_mem
