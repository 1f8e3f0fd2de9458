#include "report.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace bmad_mem::bench {
namespace {

/// Noise can make a start of a process as cheap as that of an empty one.
constexpr double kLeastTime = 0.01;

bool is_rate(std::string_view unit) { return unit.ends_with("/s"); }
bool is_time(std::string_view unit) { return unit == "ms" || unit == "us"; }

double measured(const Row& row) {
  assert(!row.target->of_ratio || row.ratio);
  return row.target->of_ratio ? row.ratio->median : row.ours.median;
}

bool reaches(const Target& target, double value, double bound) {
  return target.higher_is_better ? value >= bound : value <= bound;
}

std::string bound_text(const Row& row, const std::optional<double>& bound) {
  if (!bound) {
    return "";
  }
  return (row.target->higher_is_better ? "≥ " : "≤ ") +
         (row.target->of_ratio ? fmt::format("{} ×", *bound) : value_text(*bound, row.unit));
}

std::string spread_text(const Summary& summary) {
  return summary.count < 2
             ? ""
             : fmt::format("{}..{}", value_text(summary.low, ""), value_text(summary.high, ""));
}

std::vector<std::string> cells_of(const Row& row) {
  std::vector<std::string> cells(8);
  cells[0] = row.what;
  if (!row.problem.empty()) {
    cells[1] = "not measured";
    return cells;
  }
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
    cells[7] = row.verdict();
  }
  return cells;
}

/// Characters, so that columns stay aligned where there is a "×".
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void write_summary(JsonWriter& json, std::string_view name, const std::optional<Summary>& summary) {
  if (summary) {
    json.key(name).begin_object();
    json.member("median", summary->median).member("p10", summary->low);
    json.member("p90", summary->high).member("count", std::uint64_t{summary->count}).end_object();
  }
}

void write_target(JsonWriter& json, const Row& row) {
  const Target& target = *row.target;
  json.key("target").begin_object();
  json.member("of", target.of_ratio ? "ratio" : "ours");
  json.member("better", target.higher_is_better ? "higher" : "lower");
  json.member("required", target.required);
  if (target.aim) {
    json.member("aim", *target.aim);
  }
  json.member("verdict", row.verdict()).end_object();
}

}  // namespace

double percentile(Values values, double share) {
  assert(!values.empty() && share >= 0 && share <= 1);
  std::ranges::sort(values);
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - std::floor(position));
}

Summary summarize(const Values& values) {
  return {.median = percentile(values, 0.5),
          .low = percentile(values, 0.1),
          .high = percentile(values, 0.9),
          .count = values.size()};
}

Row::Row(std::string what_it_is, std::string unit_of_it, Values measured_values)
    : what(std::move(what_it_is)),
      unit(std::move(unit_of_it)),
      values(std::move(measured_values)),
      ours(summarize(values)) {}

Row Row::not_measured(std::string what, std::string problem) {
  Row row;
  row.what = std::move(what);
  row.problem = std::move(problem);
  return row;
}

Row& Row::beside(std::string name, const Values& theirs) {
  baseline_name = std::move(name);
  baseline = summarize(theirs);
  if (is_rate(unit) || is_time(unit)) {
    ratio = summarize(combined(values, theirs, [&](double ours_value, double their_value) {
      return is_rate(unit) ? ours_value / their_value
                           : their_value / std::max(ours_value, kLeastTime);
    }));
  }
  return *this;
}

Row& Row::wants(std::optional<Target> wanted) {
  target = wanted;
  return *this;
}

Row& Row::noting(std::string text) {
  note = std::move(text);
  return *this;
}

std::string_view Row::verdict() const {
  if (!problem.empty() || !target) {
    return "";
  }
  if (target->aim && reaches(*target, measured(*this), *target->aim)) {
    return "aim met";
  }
  return reaches(*target, measured(*this), target->required) ? "met" : "MISSED";
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

std::string markdown_table(std::span<const std::vector<std::string>> lines) {
  assert(!lines.empty());
  std::vector<std::size_t> widths(lines.front().size());
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(line[i]));
    }
  }
  std::string out;
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      out += (i == 0 ? "| " : " | ") + line[i] + std::string(widths[i] - width_of(line[i]), ' ');
    }
    out += " |\n";
    if (&line == &lines.front()) {
      for (const std::size_t width : widths) {
        out += "| " + std::string(width, '-') + ' ';
      }
      out += "|\n";
    }
  }
  return out;
}

std::string table_text(std::span<const Row> rows) {
  std::vector<std::vector<std::string>> lines = {
      {"what", "ours", "p10..p90", "baseline", "ratio", "required", "aim", "verdict"}};
  std::string notes;
  for (const Row& row : rows) {
    lines.push_back(cells_of(row));
    if (!row.note.empty() || !row.problem.empty()) {
      notes += fmt::format("\n- {}: {}{}", row.what, row.note, row.problem);
    }
  }
  return markdown_table(lines) + notes + '\n';
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
    }
    write_summary(json, "baseline", row.baseline);
    write_summary(json, "ratio", row.ratio);
    if (row.target) {
      write_target(json, row);
    }
    json.member("note", row.note).end_object();
  }
  json.end_array();
}

}  // namespace bmad_mem::bench
