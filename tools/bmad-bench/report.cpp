#include "report.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kColumns = 8;
using Cells = std::array<std::string, kColumns>;

double measured(const Row& row) {
  assert(row.target->of != TargetOf::kRatio || row.ratio);
  return row.target->of == TargetOf::kRatio ? row.ratio->median : row.ours.median;
}

bool reaches(const Target& target, double value, double bound) {
  return target.better == Better::kHigher ? value >= bound : value <= bound;
}

std::string bound_text(const Row& row, const std::optional<double>& bound) {
  if (!bound) {
    return "";
  }
  const bool of_ratio = row.target->of == TargetOf::kRatio;
  return fmt::format("{}{}", row.target->better == Better::kHigher ? "≥ " : "≤ ",
                     of_ratio ? fmt::format("{} ×", *bound) : value_text(*bound, row.unit));
}

std::string spread_text(const Summary& summary) {
  if (summary.count < 2) {
    return "";
  }
  return fmt::format("{}..{}", value_text(summary.low, ""), value_text(summary.high, ""));
}

Cells cells_of(const Row& row) {
  if (!row.problem.empty()) {
    return {row.what, "not measured", "", "", "", "", "", ""};
  }
  Cells cells;
  cells[0] = row.what;
  cells[1] = value_text(row.ours.median, row.unit);
  cells[2] = spread_text(row.ours);
  if (row.baseline) {
    cells[3] = fmt::format("{} {}", value_text(row.baseline->median, row.unit), row.baseline_name);
  }
  if (row.ratio) {
    const std::string spread = spread_text(*row.ratio);
    cells[4] = value_text(row.ratio->median, "") + (spread.empty() ? "" : " (" + spread + ')');
  }
  if (row.target) {
    cells[5] = bound_text(row, row.target->required);
    cells[6] = bound_text(row, row.target->aim);
    cells[7] = verdict(row);
  }
  return cells;
}

/// Characters, so that columns stay aligned where there is a "×".
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void append_line(std::string& out, const Cells& cells,
                 const std::array<std::size_t, kColumns>& widths) {
  for (std::size_t i = 0; i < kColumns; ++i) {
    out += i == 0 ? "| " : " | ";
    out += cells[i];
    out.append(widths[i] - width_of(cells[i]), ' ');
  }
  out += " |\n";
}

void write_summary(JsonWriter& json, std::string_view name, const Summary& summary) {
  json.key(name).begin_object();
  json.member("median", summary.median).member("p10", summary.low).member("p90", summary.high);
  json.member("count", std::uint64_t{summary.count}).end_object();
}

void write_target(JsonWriter& json, const Row& row) {
  const Target& target = *row.target;
  json.key("target").begin_object();
  json.member("of", target.of == TargetOf::kRatio ? "ratio" : "ours");
  json.member("better", target.better == Better::kHigher ? "higher" : "lower");
  json.member("required", target.required);
  if (target.aim) {
    json.member("aim", *target.aim);
  }
  json.member("verdict", verdict(row)).end_object();
}

}  // namespace

Row not_measured(std::string what, std::string problem) {
  Row row;
  row.what = std::move(what);
  row.problem = std::move(problem);
  return row;
}

std::string_view verdict(const Row& row) {
  if (!row.problem.empty() || !row.target) {
    return "";
  }
  const Target& target = *row.target;
  if (target.aim && reaches(target, measured(row), *target.aim)) {
    return "aim met";
  }
  return reaches(target, measured(row), target.required) ? "met" : "MISSED";
}

std::string value_text(double value, std::string_view unit) {
  const double size = std::abs(value);
  std::string text;
  if (size >= 1000) {
    text = fmt::format("{:.0f}", value);
    for (std::size_t at = text.size(); at > 3 + (value < 0 ? 1U : 0U);) {
      at -= 3;
      text.insert(at, ",");
    }
  } else {
    const int digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    text = fmt::format("{:.{}f}", value, digits);
  }
  return unit.empty() ? text : fmt::format("{} {}", text, unit);
}

std::string table_text(std::span<const Row> rows) {
  const Cells head = {"what",  "ours",     "p10..p90", "baseline",
                      "ratio", "required", "aim",      "verdict"};
  std::vector<Cells> lines = {head, {}};
  for (const Row& row : rows) {
    lines.push_back(cells_of(row));
  }
  std::array<std::size_t, kColumns> widths{};
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      widths[i] = std::max(widths[i], width_of(line[i]));
    }
  }
  for (std::size_t i = 0; i < kColumns; ++i) {
    lines[1][i].assign(widths[i], '-');
  }
  std::string out;
  for (const Cells& line : lines) {
    append_line(out, line, widths);
  }
  for (const Row& row : rows) {
    if (!row.note.empty() || !row.problem.empty()) {
      out += fmt::format("\n- {}: {}{}", row.what, row.note, row.problem);
    }
  }
  return out + "\n";
}

void write_rows(JsonWriter& json, std::span<const Row> rows) {
  json.begin_array();
  for (const Row& row : rows) {
    json.begin_object().member("what", row.what);
    if (!row.problem.empty()) {
      json.member("problem", row.problem).end_object();
      continue;
    }
    json.member("unit", row.unit);
    write_summary(json, "ours", row.ours);
    if (row.baseline) {
      json.member("baseline_name", row.baseline_name);
      write_summary(json, "baseline", *row.baseline);
    }
    if (row.ratio) {
      write_summary(json, "ratio", *row.ratio);
    }
    if (row.target) {
      write_target(json, row);
    }
    json.member("note", row.note).end_object();
  }
  json.end_array();
}

}  // namespace bmad_mem::bench
