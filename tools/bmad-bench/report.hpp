// report.hpp - what was measured, as a table for people and for docs, or as JSON.
//
//   Row("durable append", "/s", rates).beside("raw", raw_rates).wants(ratio_at_least(0.8, 0.95))
//
//   | what           | ours     | p10..p90     | baseline     | ratio | required | aim      |
//   verdict | | durable append | 6,618 /s | 5,929..7,202 | 7,510 /s raw | 0.872 | ≥ 0.8 ×  | ≥ 0.95
//   × | met     |
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::bench {

/// A value for each repetition.
using Values = std::vector<double>;

/// What `share` of the values stay within, in proportion between two of them. `values`: not empty.
double percentile(Values values, double share);

/// Value by value, as far as both go.
template <typename Operation>
Values combined(const Values& a, const Values& b, Operation operation) {
  Values result;
  std::ranges::transform(a, b, std::back_inserter(result), operation);  // Ends with the shorter.
  return result;
}

/// The middle 80 % of the values: one run that a neighbour on the machine disturbed says nothing.
struct Summary {
  double median = 0;
  double low = 0;   ///< 10th percentile.
  double high = 0;  ///< 90th percentile.
  std::size_t count = 0;
};

/// `values` must not be empty.
Summary summarize(const Values& values);

/// What a row is held against: ours, or its ratio to the baseline.
struct Target {
  bool of_ratio = false;
  bool higher_is_better = false;
  double required = 0;  ///< "At least"; at most where lower is better.
  std::optional<double> aim;
};

constexpr Target at_most(double required, std::optional<double> aim = {}) {
  return {.required = required, .aim = aim};
}
constexpr Target at_least(double required, std::optional<double> aim = {}) {
  return {.higher_is_better = true, .required = required, .aim = aim};
}
constexpr Target ratio_at_least(double required, std::optional<double> aim = {}) {
  return {.of_ratio = true, .higher_is_better = true, .required = required, .aim = aim};
}

/// One line of the table.
struct Row {
  Row() = default;
  /// `unit` is that of ours and of the baseline: "/s", "us", "ms", "GB/s", "MB", "". `values` must
  /// not be empty.
  Row(std::string what, std::string unit, Values values);
  /// A row that could not be measured.
  static Row not_measured(std::string what, std::string problem);

  /// Beside which baseline. Of times and rates also the ratio, so that above 1 we are faster: of
  /// each pair of values, since both were measured side by side.
  Row& beside(std::string name, const Values& theirs);
  Row& wants(std::optional<Target> wanted);
  Row& noting(std::string text);

  /// "aim met", "met", "MISSED", or nothing without a target.
  [[nodiscard]] std::string_view verdict() const;

  std::string what;
  std::string unit;
  Values values;
  Summary ours;
  std::string baseline_name;
  std::optional<Summary> baseline;
  std::optional<Summary> ratio;
  std::optional<Target> target;
  std::string note;     ///< How it was measured, and what else came out.
  std::string problem;  ///< Why it could not be measured; then nothing above but `what` counts.
};

using Rows = std::vector<Row>;

/// Cells as a Markdown table, padded so that it reads as plain text; the first line is the head.
std::string markdown_table(std::span<const std::vector<std::string>> lines);

/// The rows as a table, and the notes below it.
std::string table_text(std::span<const Row> rows);

/// Appends the rows as an array of objects.
void write_rows(JsonWriter& json, std::span<const Row> rows);

/// "12,345 /s", "0.954", "3.21 ms": three or more digits.
std::string value_text(double value, std::string_view unit);

}  // namespace bmad_mem::bench
