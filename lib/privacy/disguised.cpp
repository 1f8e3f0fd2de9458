// disguised.cpp - finds secrets in base64, in percent encoding, and among signs that hide them.
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
#include <cassert>
#include <cstddef>
#include <string>

#include "base/base64.hpp"
#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "read_text.hpp"
#include "text_scan.hpp"

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
    assert(sign.exists() && sign.end <= text_.size() && sign.size <= sign.bytes.size());
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
    assert(end <= text_.size());
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

/// Shorter runs can't hold a secret that is worth the name.
constexpr std::size_t kBase64SizeMin = 20;

bool is_printed_text(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
}

/// Whether the run begins like text: what doesn't is not decoded to its end.
bool may_be_text(std::string_view run) {
  constexpr std::size_t kLook = 16;
  assert(base64_decoded(run.substr(0, kLook)) && "next_base64_run() takes only its digits");
  return is_printed_text(*base64_decoded(run.substr(0, kLook)));
}

/// The next run of at least kBase64SizeMin base64 characters from `at` on; empty at the end. Looks
/// at the far end of where a run would be, so that most of a text of short words is passed over.
std::string_view next_base64_run(std::string_view text, std::size_t at) {
  while (at + kBase64SizeMin <= text.size()) {
    const std::size_t first = run_begin(text, at + kBase64SizeMin, is_base64_digit, kBase64SizeMin);
    if (first == at) {
      return text.substr(at, run_end(text, at + kBase64SizeMin, is_base64_digit) - at);
    }
    at = first;
  }
  return {};
}

/// How many '=' stand at the beginning of `rest`: two at most.
std::size_t padding_size(std::string_view rest) {
  return rest.starts_with("==") ? 2U : rest.starts_with('=') ? 1U : 0U;
}

/// Where the next line of base64 begins when the one before ends at `at`; npos: it has none.
std::size_t next_base64_line(std::string_view text, std::size_t at) {
  constexpr std::size_t kIndentMax = 64;
  if (text.substr(at).starts_with("\\n")) {
    at += 2;  // In a text that was escaped.
  } else {
    at += byte_at(text, at) == '\r' ? 1U : 0U;
    assert(at <= text.size());
    if (byte_at(text, at) != '\n') {
      return std::string_view::npos;
    }
    ++at;
  }
  return blanks_end(text, std::min(at, text.size()), kIndentMax);
}

/// Lines of base64, all as long as the first but for the last.
struct Base64Lines {
  std::string joined;  // Empty when there is but one.
  std::size_t end = 0;
};
Base64Lines base64_lines(std::string_view text, std::string_view first) {
  const auto begin = static_cast<std::size_t>(first.data() - text.data());
  Base64Lines lines{.joined = {}, .end = begin + first.size()};
  for (std::size_t size = first.size(); size == first.size();) {
    const std::size_t next = next_base64_line(text, lines.end);
    if (next == std::string_view::npos) {
      break;
    }
    const std::size_t end = run_end(text, next, is_base64_digit, first.size() + 1);
    size = end - next;
    const bool is_last = size < first.size();
    if (size == 0 || size > first.size() ||
        (is_last && std::string_view(" \t.,:;-").contains(byte_at(text, end)) &&
         end < text.size())) {
      break;  // A word that begins the next line.
    }
    if (lines.joined.empty()) {
      lines.joined = first;
    }
    lines.joined += text.substr(next, size);
    lines.end = end;
  }
  return lines;
}

void find_base64(std::string_view text, const FindSecrets& find, Detections& out) {
  std::size_t at = 0;
  for (std::string_view run; !(run = next_base64_run(text, at)).empty();) {
    const auto begin = static_cast<std::size_t>(run.data() - text.data());
    at = begin + run.size();
    assert(run.size() >= kBase64SizeMin && at <= text.size());
    find_near(text, begin, at, out);
    if (!may_be_text(run)) {
      continue;
    }
    const Base64Lines lines = base64_lines(text, run);
    at = lines.end;
    const std::string decoded = *base64_decoded(lines.joined.empty() ? run : lines.joined);
    Detections inside;
    if (is_printed_text(decoded)) {
      find(decoded, inside);
    }
    if (has_action(inside, DetectionAction::kSecret)) {
      out.push_back(
          {.begin = begin, .end = at + padding_size(text.substr(at)), .rule = inside.front().rule});
    }
  }
}

/// Whether "%XX" stands at `at`.
bool is_escape(std::string_view text, std::size_t at) {
  return at + 2 < text.size() && text[at] == '%' && is_hex_digit(text[at + 1]) &&
         is_hex_digit(text[at + 2]);
}

void find_percent(std::string_view text, const FindSecrets& find, Detections& out) {
  constexpr std::string_view kBlanks = " \t\r\n\"'<>";
  for (std::size_t at = 0; (at = text.find('%', at)) != std::string_view::npos; ++at) {
    if (!is_escape(text, at)) {
      continue;
    }
    const std::size_t before = text.find_last_of(kBlanks, at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    ReadText decoded;
    for (std::size_t i = begin; i < end;) {
      std::size_t size = is_escape(text, i) ? 3 : 1;
      while (size > 1 && text.substr(i + size - 2).starts_with("25") &&
             all_are(text.substr(i + size, 2), is_hex_digit) && i + size + 2 <= end) {
        size += 2;  // "%2541": encoded twice.
      }
      decoded.add(size == 1 ? text[i]
                            : static_cast<char>(hex_value(text[i + size - 2]) * 16 +
                                                hex_value(text[i + size - 1])),
                  i, i + size);
      i += size;
    }
    decoded.find(text, find, out);
    at = end == text.size() ? end - 1 : end;
  }
}

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

void find_encoded(std::string_view text, const FindSecrets& find, Detections& out) {
  if (text.size() >= kBase64SizeMin) {
    find_base64(text, find, out);
  }
  find_percent(text, find, out);
}

std::string decode_base64(std::string_view encoded) {
  encoded = encoded.substr(0, encoded.find_last_not_of('=') + 1);  // npos + 1 is 0.
  return encoded.size() % 4 != 1 ? base64_decoded(encoded).value_or("") : std::string();
}

bool is_encoded_login(std::string_view text) {
  constexpr std::size_t kSizeMin = 4;
  constexpr std::size_t kSizeMax = 4096;
  if (text.size() < kSizeMin || text.size() > kSizeMax) {
    return false;
  }
  const std::string login = decode_base64(text);
  return login.find(':', 1) != std::string::npos &&
         std::ranges::all_of(login, [](char c) { return (c >= ' ' && c <= '~') || !is_ascii(c); });
}

}  // namespace bmad_mem
