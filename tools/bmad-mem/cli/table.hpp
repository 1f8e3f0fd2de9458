// table.hpp - rows of cells in columns.
#pragma once

#include <string>
#include <vector>

#include "cli/tool.hpp"

namespace bmad_mem::cli {

using TableRow = std::vector<std::string>;

/// The rows as lines: the first column is aligned to the left, the others to the right. The first
/// row has the most cells.
std::vector<std::string> table_lines(const std::vector<TableRow>& rows);

/// Prints the lines; the first is the heading.
void print_table(Tool& tool, const std::vector<TableRow>& rows);

}  // namespace bmad_mem::cli
