#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "mcp/stdio_transport.hpp"

using bmad_mem::cli::LineReader;

namespace bmad_mem::test::line_reader_test {
namespace {

/// The lines of `text`, read in pieces of `step` bytes; "!" for one that is too long.
std::vector<std::string> lines_of(std::string_view text, std::size_t step, std::size_t size_max) {
  std::vector<std::string> lines;
  const auto on_line = [&](std::string_view line) { lines.emplace_back(line); };
  LineReader reader(size_max);
  for (std::size_t at = 0; at < text.size(); at += step) {
    reader.take(text.substr(at, step), on_line, [&] { lines.emplace_back("!"); });
  }
  reader.finish(on_line);
  return lines;
}

}  // namespace

TEST_CASE("bytes become lines, however they come") {
  struct Row {
    const char* name;
    std::string_view text;
    std::vector<std::string> lines;
  };
  const Row rows[] = {
      {"nothing", "", {}},
      {"two lines", "ab\ncd\n", {"ab", "cd"}},
      {"no newline at the end", "ab\ncd", {"ab", "cd"}},
      {"carriage returns", "ab\r\ncd\r\n", {"ab", "cd"}},
      {"blank lines", "\n\r\n  \t\nab\n\n", {"ab"}},
      {"just long enough", "12345678\n", {"12345678"}},
      {"too long", "123456789\nab\n", {"!", "ab"}},
      {"too long and without end", "123456789abcdef", {"!"}},
      {"two that are too long", "123456789\n123456789\nx", {"!", "!", "x"}},
  };
  for (const Row& row : rows) {
    for (const std::size_t step : {1U, 2U, 3U, 100U}) {
      CAPTURE(row.name);
      CAPTURE(step);
      CHECK(lines_of(row.text, step, 8) == row.lines);
    }
  }
}

}  // namespace bmad_mem::test::line_reader_test
