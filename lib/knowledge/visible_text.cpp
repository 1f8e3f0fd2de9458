#include "visible_text.hpp"

#include <algorithm>
#include <array>

#include "bmad_mem/utf8.hpp"
#include "code_points.hpp"

namespace bmad_mem {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// What shows nothing, or changes how other characters are shown: the format characters of Unicode
// 15 and those that are drawn as nothing though they are letters or marks.
constexpr std::array<Range, 21> kUnseen = {{
    {0x00AD, 0x00AD},    // Soft hyphen.
    {0x034F, 0x034F},    // Combining grapheme joiner.
    {0x0600, 0x0605},    // Arabic number signs.
    {0x061C, 0x061C},    // Arabic letter mark.
    {0x06DD, 0x06DD},    // Arabic end of ayah.
    {0x070F, 0x070F},    // Syriac abbreviation mark.
    {0x115F, 0x1160},    // Hangul fillers.
    {0x17B4, 0x17B5},    // Khmer inherent vowels.
    {0x180B, 0x180F},    // Mongolian selectors and separator.
    {0x200B, 0x200F},    // Zero-width characters, marks of direction.
    {0x202A, 0x202E},    // Embeddings and overrides of direction.
    {0x2060, 0x206F},    // Word joiner, invisible operators, isolates, deprecated ones.
    {0x2800, 0x2800},    // Blank Braille pattern.
    {0x3164, 0x3164},    // Hangul filler.
    {0xFE00, 0xFE0F},    // Variation selectors.
    {0xFEFF, 0xFEFF},    // Byte order mark.
    {0xFFA0, 0xFFA0},    // Half-width Hangul filler.
    {0xFFF0, 0xFFFB},    // Interlinear annotations.
    {0x1BCA0, 0x1BCA3},  // Shorthand format controls.
    {0x1D173, 0x1D17A},  // Musical format controls.
    {0xE0000, 0xE0FFF},  // Tags and supplementary variation selectors.
}};

constexpr char32_t kEscape = 0x1B;

bool is_unseen(char32_t c) {
  return std::ranges::any_of(
      kUnseen, [c](const Range& range) { return c >= range.first && c <= range.last; });
}

bool is_line_break(char32_t c) {
  return c == '\n' || c == '\v' || c == '\f' || c == '\r' || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F); }

/// How many bytes behind the introducer of a control sequence belong to it: ECMA-48, 5.4.
std::size_t control_sequence_size(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && text[size] >= 0x20 && text[size] <= 0x3F) {
    ++size;
  }
  return size < text.size() && text[size] >= 0x40 && text[size] <= 0x7E ? size + 1 : size;
}

/// How many bytes belong to a string for the terminal, such as the title of its window. One that is
/// not closed in its line is taken for no more than its introducer: nothing gets lost.
std::size_t control_string_size(std::string_view text) {
  const std::size_t end = text.find_first_of("\a\x1B\n");
  if (end == std::string_view::npos || text[end] == '\n') {
    return 0;
  }
  return text[end] == '\a' ? end + 1 : end;
}

/// How many bytes behind an ESC belong to its sequence.
std::size_t escape_size(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  const char kind = text.front();
  const std::string_view rest = text.substr(1);
  if (kind == '[') {
    return 1 + control_sequence_size(rest);
  }
  if (kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_') {
    return 1 + control_string_size(rest);
  }
  std::size_t size = 0;
  while (size < text.size() && text[size] >= 0x20 && text[size] <= 0x2F) {
    ++size;
  }
  return size < text.size() && text[size] >= 0x30 && text[size] <= 0x7E ? size + 1 : size;
}

/// How many bytes the sequence takes that control character `c` begins, without itself.
std::size_t sequence_size(char32_t c, std::string_view rest) {
  constexpr char32_t kControlSequence = 0x9B;
  constexpr char32_t kSystemCommand = 0x9D;
  if (c == kEscape) {
    return escape_size(rest);
  }
  if (c == kControlSequence) {
    return control_sequence_size(rest);
  }
  return c == kSystemCommand ? control_string_size(rest) : 0;
}

}  // namespace

std::string visible_text(std::string_view text) {
  const std::string repaired = utf8_repaired(text);
  std::string out;
  out.reserve(repaired.size());
  for (std::string_view rest = repaired; !rest.empty();) {
    const CodePoint point = first_code_point(rest);
    const std::string_view bytes = rest.substr(0, point.size);
    rest.remove_prefix(point.size);
    if (is_line_break(point.value)) {
      if (point.value == '\r' && rest.starts_with('\n')) {
        rest.remove_prefix(1);
      }
      out += '\n';
    } else if (point.value == '\t') {
      out += ' ';
    } else if (is_control(point.value)) {
      rest.remove_prefix(sequence_size(point.value, rest));
    } else if (!is_unseen(point.value)) {
      out += bytes;
    }
  }
  return out;
}

std::string visible_line(std::string_view text) {
  const std::string visible = visible_text(text);
  std::string out;
  out.reserve(visible.size());
  for (std::string_view rest = visible; !rest.empty();) {
    const CodePoint point = first_code_point(rest);
    const bool is_blank = point.value == ' ' || point.value == '\n' || point.value == 0xA0 ||
                          point.value == 0x3000 || (point.value >= 0x2000 && point.value <= 0x200A);
    if (!is_blank) {
      out += rest.substr(0, point.size);
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
    rest.remove_prefix(point.size);
  }
  if (out.ends_with(' ')) {
    out.pop_back();
  }
  return out;
}

std::string cut_text(std::string_view text, std::size_t size_max) {
  static constexpr std::string_view kEllipsis = "…";
  if (text.size() <= size_max) {
    return std::string(text);
  }
  if (size_max < kEllipsis.size() + 1) {
    return {};
  }
  std::string_view kept = utf8_prefix(text, size_max - kEllipsis.size());
  const bool is_between_words = text[kept.size()] == ' ' || text[kept.size()] == '\n';
  const std::size_t blank = kept.find_last_of(" \n");
  if (!is_between_words && blank != std::string_view::npos &&
      blank >= kept.size() - kept.size() / 4) {
    kept = kept.substr(0, blank);
  }
  while (!kept.empty() && (kept.back() == ' ' || kept.back() == '\n')) {
    kept.remove_suffix(1);
  }
  return std::string(kept) + std::string(kEllipsis);
}

}  // namespace bmad_mem
