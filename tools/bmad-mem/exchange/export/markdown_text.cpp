// markdown_text.cpp - escapes and quotes texts for Markdown.
#include <algorithm>
#include <cassert>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "cli/text.hpp"
#include "exchange/export/export_writer.hpp"
#include "exchange/files.hpp"

namespace bmad_mem::cli {
namespace {

bool is_punctuation(char c) { return c > ' ' && c < 0x7F && !is_alnum(c); }

std::size_t run_length(std::string_view text, std::size_t at) {
  assert(at < text.size());
  const std::size_t end = text.find_first_not_of(text[at], at);
  return (end == std::string_view::npos ? text.size() : end) - at;
}

/// Where the run of exactly `size` backticks begins that closes a code span; npos when there is
/// none in `text` from `at` on.
std::size_t closing_run(std::string_view text, std::size_t at, std::size_t size) {
  while ((at = text.find('`', at)) != std::string_view::npos) {
    const std::size_t length = run_length(text, at);
    if (length == size) {
      return at;
    }
    at += length;
  }
  return at;
}

/// Whether "&" at `at` begins something like "&amp;" or "&#60;".
bool is_entity(std::string_view text, std::size_t at) {
  assert(text[at] == '&');
  std::size_t end = at + 1;
  while (end < text.size() && (is_alnum(text[end]) || text[end] == '#')) {
    ++end;
  }
  return end > at + 1 && end < text.size() && text[end] == ';';
}

/// Whether the character acts within a line in a way that quoted texts must not.
bool acts(std::string_view text, std::size_t at) {
  const char next = at + 1 < text.size() ? text[at + 1] : '\0';
  switch (text[at]) {
    case '<':
      return true;
    case '\\':
      return is_punctuation(next) || next == '\0';
    case '&':
      return is_entity(text, at);
    case '!':
      return next == '[';  // An image would be fetched.
    case ']':
      return next == '(';
    default:
      return false;
  }
}

/// A line of text with what acts in it escaped. Code spans that end in the line keep their text;
/// any other backtick is escaped, so that it can't open a span which ends elsewhere.
std::string escaped_line(std::string_view line, std::string_view also = {}) {
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '`') {
      const std::size_t size = run_length(line, i);
      const std::size_t close =
          also.empty() ? closing_run(line, i + size, size) : std::string_view::npos;
      if (close != std::string_view::npos) {
        out += line.substr(i, close + size - i);
        i = close + size;
        continue;
      }
      for (std::size_t k = 0; k < size; ++k) {
        out += "\\`";
      }
      i += size;
      continue;
    }
    if (static_cast<unsigned char>(line[i]) >= 0x20 || line[i] == '\t') {
      const bool inside_word = line[i] == '_' && i > 0 && is_alnum(line[i - 1]) &&
                               i + 1 < line.size() && is_alnum(line[i + 1]);
      const bool is_plain = is_alnum(line[i]) || line[i] == ' ';
      if (!is_plain && (acts(line, i) || (also.contains(line[i]) && !inside_word))) {
        out += '\\';
      }
      out += line[i];
    }
    ++i;
  }
  return out;
}

/// Whether a line consists of three or more of `c` (or for "=", of any number), with blanks.
bool is_rule(std::string_view line) {
  assert(!line.empty());
  const char c = line.front();
  return std::string_view("-=*_").find(c) != std::string_view::npos &&
         std::ranges::all_of(line, [&](char each) { return each == c || each == ' '; });
}

/// Whether what begins the line, behind blanks, would make a block of it that is no prose or list.
bool begins_block(std::string_view line) {
  return line.front() == '#' || line.front() == '>' || line.front() == '[' || is_rule(line) ||
         line.starts_with("~~~") || line.front() == '|';
}

std::string quoted_line(std::string_view line) {
  const std::size_t start = std::min(line.find_first_not_of(" \t"), line.size());
  const std::string_view rest = line.substr(start);
  std::string out(line.substr(0, start));
  // Backticks that don't end in the line are escaped anyway.
  out += !rest.empty() && begins_block(rest) ? "\\" : "";
  return out + escaped_line(rest);
}

std::vector<std::string_view> all_lines(std::string_view text) {
  return mapped(lines_of(text), without_line_end);
}

struct Fence {
  char mark = '\0';  // '\0': none.
  std::size_t size = 0;
  std::string_view language;
};

/// A line that begins fenced code beyond doubt.
Fence opening_fence(std::string_view line) {
  if (!line.starts_with("```") && !line.starts_with("~~~")) {
    return {};
  }
  const std::size_t size = run_length(line, 0);
  const std::string_view language = line.substr(size);
  const bool plain = std::ranges::all_of(language, [](char c) {
    return is_alnum(c) || std::string_view("_+-.#").find(c) != std::string_view::npos;
  });
  return plain ? Fence{line[0], size, language} : Fence{};
}

bool closes(const Fence& fence, std::string_view line) {
  assert(fence.mark != '\0' && "text is in a fence");
  return !line.empty() && line[0] == fence.mark && run_length(line, 0) == line.size() &&
         line.size() >= fence.size;
}

}  // namespace

std::string markdown_fence(std::string_view text, std::string_view language,
                           std::string_view front) {
  const std::string fence(std::max<std::size_t>(longest_run(text, '`'), 2) + 1, '`');
  std::string out = fmt::format("{}{}{}\n", front, fence, language);
  for (const std::string_view line : all_lines(text)) {
    out += fmt::format("{}{}\n", front, line);
  }
  return out + fmt::format("{}{}\n", front, fence);
}

std::string markdown_quote(std::string_view text, std::string_view front) {
  const std::string quote = fmt::format("{}> ", front);
  std::string out;
  const std::vector<std::string_view> lines = all_lines(without_line_end(text));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Fence fence = opening_fence(lines[i]);
    if (fence.mark == '\0') {
      out += lines[i].empty() ? fmt::format("{}>\n", front) : quote + quoted_line(lines[i]) + "\n";
      continue;
    }
    std::string code;
    for (++i; i < lines.size() && !closes(fence, lines[i]); ++i) {
      code.append(lines[i]).append("\n");
    }
    out += markdown_fence(code, fence.language, quote);
  }
  return out;
}

std::string markdown_inline(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const char each = c == '\n' || c == '\t' || c == '\r' ? ' ' : c;
    if (each != ' ' || (!line.empty() && line.back() != ' ')) {
      line += each;
    }
  }
  assert(!line.contains('\n'));
  return escaped_line(line, "*_~[]|#$");
}

std::string markdown_code(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  const std::string mark(longest_run(line, '`') + 1, '`');
  const std::string_view pad = line.starts_with('`') || line.ends_with('`') ? " " : "";
  return line.empty() ? "" : fmt::format("{}{}{}{}{}", mark, pad, line, pad, mark);
}

}  // namespace bmad_mem::cli
