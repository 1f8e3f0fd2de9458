#include "fence.hpp"

#include <algorithm>
#include <array>

#include "bmad_mem/text.hpp"
#include "visible_text.hpp"

namespace bmad_mem {
namespace {

/// The length of the longest run of `c` in `text`.
std::size_t longest_run(std::string_view text, char c) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char each : text) {
    run = each == c ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// Whether Markdown would read the beginning of an item's text as a heading, a quote, a table, a
/// rule, HTML, or another item.
bool begins_a_block(std::string_view line) {
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
  static constexpr std::array<std::string_view, 10> kSpeakers = {
      "system", "user",        "assistant", "human", "tool",
      "model",  "instruction", "im_",       "s>",    "function"};
  const std::string_view name = rest.substr(1);
  if (name.empty() || std::string_view("!?/|").find(name.front()) != std::string_view::npos) {
    return true;
  }
  return std::ranges::any_of(kSpeakers, [&](std::string_view speaker) {
    return name.size() >= speaker.size() &&
           std::ranges::equal(name.substr(0, speaker.size()), speaker, {}, to_lower);
  });
}

/// Puts a backslash in front of such marks, and of each sign of what would be a fence.
std::string escaped(std::string_view line) {
  constexpr std::size_t kFenceSizeMin = 3;
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

}  // namespace

std::string harmless_line(std::string_view text, std::size_t size_max) {
  std::string line = escaped(cut_text(visible_line(text), size_max));
  if (!line.empty() && begins_a_block(line)) {
    line.insert(is_digit(line.front()) ? line.find_first_of(".)") : 0, 1, '\\');
  }
  return line;
}

std::string quoted_block(std::string_view text, std::size_t size_max) {
  const std::string content = cut_text(visible_text(text), size_max);
  const std::string fence(std::max<std::size_t>(3, longest_run(content, '`') + 1), '`');
  std::string out = fence + "text\n";
  for (std::string_view rest = content; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.find_first_not_of(' ') != std::string_view::npos) {
      out += "| ";
      out += line;
      out += '\n';
    }
  }
  return out + fence + '\n';
}

}  // namespace bmad_mem
