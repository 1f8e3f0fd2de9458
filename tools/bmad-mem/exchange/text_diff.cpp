// text_diff.cpp - what changed between two texts.

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <vector>

#include <fmt/core.h>

#include "exchange/files.hpp"

namespace bmad_mem::cli {
namespace {

/// A thousand lines against a thousand others: four megabytes and some milliseconds. Beyond that
/// all is shown as replaced.
constexpr std::size_t kComparisonsMax = 1'000'000;

/// One line of both texts together, in order.
struct DiffLine {
  char mark;  ///< ' ', '-' or '+'.
  std::string text;
};

/// The lines of `text`. The last one without a newline says so, as diff does.
std::vector<std::string> diff_lines(std::string_view text) {
  const std::vector<std::string_view> views = lines_of(text);
  std::vector<std::string> lines(views.begin(), views.end());
  if (!text.empty() && !text.ends_with('\n')) {
    lines.back() += "\n\\ No newline at end of file";
  }
  return lines;
}

/// How many lines `before` and `after` have in common at most, from line i of one and k of the
/// other on: the longest common subsequence, from the ends to the fronts.
class CommonLines {
 public:
  CommonLines(std::span<const std::string> before, std::span<const std::string> after)
      : columns_(after.size() + 1), counts_((before.size() + 1) * columns_) {
    for (std::size_t i = before.size(); i-- > 0;) {
      for (std::size_t k = after.size(); k-- > 0;) {
        counts_[i * columns_ + k] =
            before[i] == after[k] ? at(i + 1, k + 1) + 1 : std::max(at(i + 1, k), at(i, k + 1));
      }
    }
  }
  [[nodiscard]] std::uint32_t at(std::size_t i, std::size_t k) const {
    assert(k < columns_ && i * columns_ + k < counts_.size());
    return counts_[i * columns_ + k];
  }

 private:
  std::size_t columns_;
  std::vector<std::uint32_t> counts_;
};

void add_lines(std::vector<DiffLine>& to, char mark, std::span<const std::string> lines) {
  for (const std::string& line : lines) {
    to.push_back({.mark = mark, .text = line});
  }
}

/// What lies between the first and the last line that differ.
void compare_middle(std::span<const std::string> before, std::span<const std::string> after,
                    std::vector<DiffLine>& lines) {
  if (before.size() * after.size() > kComparisonsMax) {
    add_lines(lines, '-', before);
    add_lines(lines, '+', after);
    return;
  }
  const CommonLines common(before, after);
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < before.size() && k < after.size()) {
    if (before[i] == after[k]) {
      lines.push_back({.mark = ' ', .text = before[i++]});
      ++k;
    } else if (common.at(i + 1, k) >= common.at(i, k + 1)) {
      lines.push_back({.mark = '-', .text = before[i++]});
    } else {
      lines.push_back({.mark = '+', .text = after[k++]});
    }
  }
  add_lines(lines, '-', before.subspan(i));
  add_lines(lines, '+', after.subspan(k));
}

std::vector<DiffLine> compare(std::span<const std::string> before,
                              std::span<const std::string> after) {
  std::vector<DiffLine> lines;
  const auto front = std::ranges::mismatch(before, after);
  add_lines(lines, ' ', {before.begin(), front.in1});
  const std::span old_rest(front.in1, before.end());
  const std::span new_rest(front.in2, after.end());
  const auto back =
      std::ranges::mismatch(old_rest | std::views::reverse, new_rest | std::views::reverse);
  compare_middle({old_rest.begin(), back.in1.base()}, {new_rest.begin(), back.in2.base()}, lines);
  add_lines(lines, ' ', {back.in1.base(), old_rest.end()});
  return lines;
}

std::size_t count_of(std::span<const DiffLine> lines, char mark) {
  return static_cast<std::size_t>(std::ranges::count(lines, mark, &DiffLine::mark));
}

/// The lines [first, last) as a hunk. `before` and `after` count the lines of each text above it.
std::string hunk(const std::vector<DiffLine>& lines, std::size_t first, std::size_t last,
                 std::size_t before, std::size_t after) {
  assert(first < last && last <= lines.size());
  const std::span shown = std::span(lines).subspan(first, last - first);
  const auto old_count = shown.size() - count_of(shown, '+');
  const auto new_count = shown.size() - count_of(shown, '-');
  std::string body;
  for (const auto& [mark, text] : shown) {
    fmt::format_to(std::back_inserter(body), "{}{}\n", mark, text);
  }
  // A side without lines names the line above it.
  return fmt::format("@@ -{},{} +{},{} @@\n{}", before + (old_count > 0 ? 1 : 0), old_count,
                     after + (new_count > 0 ? 1 : 0), new_count, body);
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::size_t context) {
  const std::vector<DiffLine> lines = compare(diff_lines(before), diff_lines(after));
  std::string out;
  std::size_t old_lines = 0;
  std::size_t new_lines = 0;
  std::size_t told = 0;  // What stands in front of it is in a hunk, or too far from a change.
  const auto pass = [&](std::size_t to) {
    const std::span passed = std::span(lines).subspan(told, to - told);
    old_lines += passed.size() - count_of(passed, '+');
    new_lines += passed.size() - count_of(passed, '-');
    told = to;
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
