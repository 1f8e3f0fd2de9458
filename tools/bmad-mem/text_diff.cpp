#include "text_diff.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <dtl/dtl.hpp>
#include <fmt/core.h>

namespace bmad_mem::cli {
namespace {

/// One line of both texts together, in order.
struct DiffLine {
  char mark;  ///< ' ', '-' or '+'.
  std::string text;
};

/// The lines of `text`. The last one without a newline says so, as diff does.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      lines.push_back(std::string(text) + "\n\\ No newline at end of file");
      break;
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<DiffLine> compare(const std::vector<std::string>& before,
                              const std::vector<std::string>& after) {
  dtl::Diff<std::string> diff(before, after);
  diff.compose();
  std::vector<DiffLine> lines;
  for (const auto& [text, info] : diff.getSes().getSequence()) {
    const char mark = info.type == dtl::SES_ADD ? '+' : info.type == dtl::SES_DELETE ? '-' : ' ';
    lines.push_back({.mark = mark, .text = text});
  }
  return lines;
}

/// The lines [first, last) as a hunk. `before` and `after` count the lines of each text above it.
std::string hunk(const std::vector<DiffLine>& lines, std::size_t first, std::size_t last,
                 std::size_t before, std::size_t after) {
  std::size_t old_count = 0;
  std::size_t new_count = 0;
  std::string body;
  for (std::size_t i = first; i < last; ++i) {
    old_count += lines[i].mark != '+' ? 1 : 0;
    new_count += lines[i].mark != '-' ? 1 : 0;
    fmt::format_to(std::back_inserter(body), "{}{}\n", lines[i].mark, lines[i].text);
  }
  // A side without lines names the line above it.
  return fmt::format("@@ -{},{} +{},{} @@\n{}", before + (old_count > 0 ? 1 : 0), old_count,
                     after + (new_count > 0 ? 1 : 0), new_count, body);
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::size_t context) {
  const std::vector<DiffLine> lines = compare(lines_of(before), lines_of(after));
  std::string out;
  std::size_t old_lines = 0;
  std::size_t new_lines = 0;
  std::size_t told = 0;  // What stands in front of it is in a hunk, or too far from a change.
  const auto pass = [&](std::size_t to) {
    for (; told < to; ++told) {
      old_lines += lines[told].mark != '+' ? 1 : 0;
      new_lines += lines[told].mark != '-' ? 1 : 0;
    }
  };
  for (std::size_t i = 0; i < lines.size();) {
    if (lines[i].mark == ' ') {
      ++i;
      continue;
    }
    std::size_t last_change = i;
    for (std::size_t k = i; k < lines.size() && k <= last_change + 2 * context + 1; ++k) {
      last_change = lines[k].mark != ' ' ? k : last_change;
    }
    const std::size_t first = std::max(told, i - std::min(i, context));
    const std::size_t last = std::min(lines.size(), last_change + context + 1);
    pass(first);
    out += hunk(lines, first, last, old_lines, new_lines);
    pass(last);
    i = last;
  }
  return out;
}

}  // namespace bmad_mem::cli
