#include "install/json_comments.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cli/json_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";

/// One behind the comment that begins at `text[at]`; `at` when none does, or it doesn't end.
std::size_t comment_end(std::string_view text, std::size_t at) {
  const std::string_view two = text.substr(at, 2);
  if (two == "//") {
    return std::min(text.find('\n', at), text.size());
  }
  const std::size_t end = two == "/*" ? text.find("*/", at + 2) : std::string_view::npos;
  return end == std::string_view::npos ? at : end + 2;
}

void blank_out(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; ++at) {
    text[at] = text[at] == '\n' ? '\n' : ' ';
  }
}

}  // namespace

std::string without_comments(std::string_view text) {
  std::string bare(text);
  std::size_t at = text.starts_with(kMark) ? kMark.size() : 0;
  blank_out(bare, 0, at);
  while (at < text.size()) {
    if (text[at] == '"') {
      at = std::min(json_string_end(text, at), text.size());
      continue;
    }
    const std::size_t end = comment_end(text, at);
    blank_out(bare, at, end);
    at = std::max(end, at + 1);
  }
  return bare;
}

std::string without_last_commas(std::string bare) {
  // The last two places where no blank stands.
  std::pair<std::size_t, std::size_t> last = {std::string::npos, std::string::npos};
  for (std::size_t at = 0; at < bare.size();) {
    const char c = bare[at];
    const bool closes = c == '}' || c == ']';
    // In `{,}` and `[1,,]` the comma is a mistake.
    if (closes && last.second != std::string::npos && bare[last.second] == ',' &&
        last.first != std::string::npos &&
        std::string_view("{[,:").find(bare[last.first]) == std::string_view::npos) {
      bare[last.second] = ' ';
    }
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) {
      last = {last.second, at};
    }
    const std::size_t next = c == '"' ? std::min(json_string_end(bare, at), bare.size()) : at + 1;
    if (next > at + 1) {
      last.second = next - 1;
    }
    at = next;
  }
  return bare;
}

}  // namespace bmad_mem::cli
