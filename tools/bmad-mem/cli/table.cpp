#include "cli/table.hpp"

#include <algorithm>
#include <cstddef>

namespace bmad_mem::cli {

std::vector<std::string> table_lines(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], text_width(row[i]));
    }
  }
  std::vector<std::string> lines;
  for (const TableRow& row : rows) {
    std::string line = padded(row.front(), widths.front());
    for (std::size_t i = 1; i < row.size(); ++i) {
      line += "  " + padded_left(row[i], widths[i]);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void print_table(Tool& tool, const std::vector<TableRow>& rows) {
  bool is_heading = true;
  for (const std::string& line : table_lines(rows)) {
    tool.out().print("{}\n", is_heading ? tool.style().bold(line) : line);
    is_heading = false;
  }
}

}  // namespace bmad_mem::cli
