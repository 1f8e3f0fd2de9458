// prompt_text.cpp - makes texts of a memory harmless in a prompt: visible, on one line, fenced.
#include "knowledge/prompt_text.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "model/entry.hpp"

namespace bmad_mem {

CodePoint first_code_point(std::string_view text) {
  assert(!text.empty());
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  const char32_t lead = byte(0);
  if (lead < 0x80) {
    return {.value = lead, .size = 1};
  }
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (text.size() < size || utf8_valid_size(text.substr(0, size)) != size) {
    return {.value = 0xFFFD, .size = 1};
  }
  char32_t value = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    value = value << 6U | (byte(i) & 0x3FU);
  }
  return {.value = value, .size = size};
}

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

/// Whether Markdown would read the beginning of an item's text as a heading, a quote, a table, a
/// rule, HTML, or another item.
bool begins_a_block(std::string_view line) {
  assert(!line.empty());
  const char first = line.front();
  const char next = line.size() > 1 ? line[1] : ' ';
  if (first == '#' || first == '>' || first == '|' || first == '<') {
    return true;
  }
  if (first == '-' || first == '+' || first == '*' || first == '_') {  // **bold** may stay.
    return next == ' ' || (next == first && first != '*') || longest_run(line, '*') > 2;
  }
  const auto digits =
      static_cast<std::size_t>(std::ranges::find_if_not(line, is_digit) - line.begin());
  return digits > 0 && digits < line.size() && (line[digits] == '.' || line[digits] == ')') &&
         (digits + 1 == line.size() || line[digits + 1] == ' ');
}

/// Whether `rest`, which begins with '<', begins a comment, the end of something, or what models
/// take for the turn of a speaker. `std::vector<int>` does not.
bool begins_a_mark(std::string_view rest) {
  static constexpr std::array<std::string_view, 12> kSpeakers = {
      "system",      "user", "assistant", "human",    "tool",   "model",
      "instruction", "im_",  "s>",        "function", "antml:", "bmad-memory"};
  assert(rest.starts_with('<'));
  std::string_view name = rest.substr(1);
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  if (name.empty() || std::string_view("!?/|").find(name.front()) != std::string_view::npos) {
    return true;
  }
  return std::ranges::any_of(kSpeakers, [&](std::string_view speaker) {
    return name.size() >= speaker.size() &&
           std::ranges::equal(name.substr(0, speaker.size()), speaker, {}, to_lower);
  });
}

/// Puts a backslash in front of such marks, and of each sign of what would be a fence; in a fence,
/// which is longer, of the marks alone.
std::string escaped(std::string_view line, bool in_fence = false) {
  const std::size_t kFenceSizeMin = in_fence ? line.size() + 1 : 3;
  std::string out;
  while (!line.empty()) {
    const char c = line.front();
    const std::size_t run =
        c == '`' || c == '~' ? std::min(line.find_first_not_of(c), line.size()) : std::size_t{1};
    const bool is_mark = run >= kFenceSizeMin || (c == '<' && begins_a_mark(line));
    for (std::size_t i = 0; i < run; ++i) {
      out += is_mark ? "\\" : "";
      out += c;
    }
    line.remove_prefix(run);
  }
  return out;
}

/// What is said of an entry, after its lead.
struct ToldField {
  EntryType type;
  std::string_view lead;
  std::string_view name;
};
constexpr ToldField kToldFields[] = {
    {EntryType::kConversation, "", "content"},
    {EntryType::kDecision, "", "decision"},
    {EntryType::kDecision, "Because: ", "rationale"},
    {EntryType::kFinding, "", "description"},
    {EntryType::kFinding, "Recommended: ", "recommendation"},
    {EntryType::kPreference, "", "value"},
    {EntryType::kFact, "", "content"},
    {EntryType::kEvent, "", "kind"},
    {EntryType::kEvent, "With ", "tool"},
    {EntryType::kEvent, "", "path"},
    {EntryType::kEvent, "", "content"},
    {EntryType::kArtifact, "", "title"},
    {EntryType::kArtifact, "In ", "path"},
    {EntryType::kArtifact, "", "snippet"},
};

/// Adds `text` behind `lead`, if there is any.
void add(std::string& out, std::string_view lead, std::string_view text) {
  if (text.empty()) {
    return;
  }
  if (!out.empty()) {
    const bool ends_a_sentence =
        std::string_view(".!?:;").find(out.back()) != std::string_view::npos;
    out += ends_a_sentence ? " " : ". ";
  }
  out += lead;
  out += text;
}

}  // namespace

bool is_unseen(char32_t c) {
  return std::ranges::any_of(
      kUnseen, [c](const Range& range) { return c >= range.first && c <= range.last; });
}

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
      const std::size_t size = sequence_size(point.value, rest);
      assert(size <= rest.size());
      rest.remove_prefix(size);
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
  assert(!out.contains('\n') && !out.starts_with(' '));
  if (out.ends_with(' ')) {
    out.pop_back();
  }
  return out;
}

std::string comparable_text(std::string_view text) {
  std::string out;
  for (const char c : visible_line(text)) {
    if (is_alnum(c) || !is_ascii(c)) {
      out += to_lower(c);
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
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
  assert(kept.size() < text.size());
  const bool is_between_words = text[kept.size()] == ' ' || text[kept.size()] == '\n';
  const std::size_t blank = kept.find_last_of(" \n");
  if (!is_between_words && blank != std::string_view::npos &&
      blank >= kept.size() - kept.size() / 4) {
    kept = kept.substr(0, blank);
  }
  while (!kept.empty() && (kept.back() == ' ' || kept.back() == '\n')) {
    kept.remove_suffix(1);
  }
  assert(kept.size() + kEllipsis.size() <= size_max);
  return std::string(kept) + std::string(kEllipsis);
}

std::string harmless_line(std::string_view text, std::size_t size_max) {
  std::string line = escaped(cut_text(visible_line(text), size_max));
  if (!line.empty() && begins_a_block(line)) {
    line.insert(is_digit(line.front()) ? line.find_first_of(".)") : 0, 1, '\\');
  }
  assert(!line.contains('\n') && "else it could begin a heading or a fence");
  return line;
}

std::string quoted_lines(std::string_view label, std::string_view text) {
  std::string out = fmt::format("| - {}:", label);
  bool is_first = true;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (line.find_first_not_of(' ') != std::string_view::npos) {
      out += fmt::format("{} {}\n", is_first ? "" : "|  ", escaped(line, /*in_fence=*/true));
      is_first = false;
    }
  }
  return is_first ? out + '\n' : out;
}

std::string fenced(std::string_view lines) {
  const std::string fence(std::max<std::size_t>(3, longest_run(lines, '`') + 1), '`');
  assert(!lines.contains(fence) && "else a text could close it");
  return fmt::format("{}text\n{}{}\n", fence, lines, fence);
}

std::string entry_prose(EntryType type, JsonValue entry) {
  std::string out;
  for (const ToldField& field : kToldFields) {
    if (field.type == type) {
      add(out, field.lead, entry[field.name].string());
    }
  }
  return out;
}

std::string entry_speaker(EntryType type, JsonValue entry) {
  const std::string_view who = entry_who(type, entry);
  return std::string(who.empty() ? entry["role"].string() : who);
}

bool is_of_workspace(const Workspace& workspace, JsonValue entry) {
  if (entry[kOutsideWorkspaceField].boolean()) {
    return false;
  }
  const JsonValue named = entry["workspace"];
  const std::string_view folder =
      named.is_string() ? named.string() : entry["metadata"]["workspace"].string();
  return !is_outside_workspace(workspace, folder);
}

}  // namespace bmad_mem
