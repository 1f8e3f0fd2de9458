#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "exchange/memory_tool/memory_folder.hpp"
#include "exchange/memory_tool/memory_tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::uint64_t kContext = 2;  // Lines before and after a change.

/// Where `wanted` stands in `text`, and in which lines; one place a line.
struct Places {
  std::size_t first = 0;
  std::vector<std::uint64_t> lines;
};

Places find_places(std::string_view text, std::string_view wanted) {
  Places places;
  std::uint64_t line = 1;
  std::size_t line_begin = 0;
  for (std::size_t at = text.find(wanted); at != std::string_view::npos;
       at = text.find(wanted, line_begin)) {
    line += static_cast<std::uint64_t>(
        std::ranges::count(text.substr(line_begin, at - line_begin), '\n'));
    if (places.lines.empty()) {
      places.first = at;
    }
    places.lines.push_back(line);
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) {
      break;
    }
    line_begin = end + 1;
    ++line;
  }
  return places;
}

}  // namespace

std::string numbered_lines(std::string_view text, std::uint64_t first, std::uint64_t last) {
  std::string out;
  std::uint64_t number = 1;
  for (std::size_t at = 0; at <= text.size() && number <= last; ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (number >= first) {
      out += fmt::format("{}{:>6}\t{}", out.empty() ? "" : "\n", number, text.substr(at, end - at));
    }
    at = end + 1;
  }
  return out;
}

std::uint64_t line_count(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n')) + 1;
}

Result<Replacement> replace_once(std::string_view text, std::string_view old_text,
                                 std::string_view new_text, std::string_view path) {
  const Places places = find_places(text, old_text);
  if (places.lines.empty()) {
    return refused("No replacement was performed, old_str `{}` did not appear verbatim in {}.",
                   old_text, path);
  }
  if (places.lines.size() > 1) {
    return refused(
        "No replacement was performed. Multiple occurrences of old_str `{}` in lines: "
        "{}. Please ensure it is unique",
        old_text, fmt::join(places.lines, ", "));
  }
  Replacement done;
  done.text = fmt::format("{}{}{}", text.substr(0, places.first), new_text,
                          text.substr(places.first + old_text.size()));
  const std::uint64_t line = places.lines.front();
  done.snippet = numbered_lines(done.text, line > kContext ? line - kContext : 1, line + kContext);
  return done;
}

Result<std::string> insert_lines(std::string_view text, std::int64_t line,
                                 std::string_view inserted) {
  const std::uint64_t lines = line_count(text);
  if (line < 0 || static_cast<std::uint64_t>(line) > lines) {
    return refused(
        "Invalid `insert_line` parameter: {}. It should be within the range of lines "
        "of the file: [0, {}]",
        line, lines);
  }
  if (inserted.ends_with('\n')) {
    inserted.remove_suffix(1);
  }
  if (static_cast<std::uint64_t>(line) == lines) {
    return fmt::format("{}\n{}", text, inserted);
  }
  std::size_t at = 0;
  for (std::int64_t i = 0; i < line; ++i) {
    at = text.find('\n', at) + 1;
  }
  return fmt::format("{}{}\n{}", text.substr(0, at), inserted, text.substr(at));
}

std::string short_size(std::uint64_t bytes) {
  constexpr std::array<char, 4> kUnits = {'B', 'K', 'M', 'G'};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  return size == std::floor(size) ? fmt::format("{:.0f}{}", size, kUnits[unit])
                                  : fmt::format("{:.1f}{}", size, kUnits[unit]);
}

}  // namespace bmad_mem::cli
