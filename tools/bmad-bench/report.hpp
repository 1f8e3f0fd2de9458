// report.hpp - what was measured, as a table for people and for docs, or as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/json_writer.hpp"
#include "samples.hpp"

namespace bmad_mem::bench {

enum class Better : std::uint8_t { kHigher, kLower };

/// What a row is held against.
enum class TargetOf : std::uint8_t { kRatio, kOurs };

struct Target {
  TargetOf of = TargetOf::kRatio;
  Better better = Better::kHigher;
  double required = 0;  ///< "At least" of the table; at most where lower is better.
  std::optional<double> aim;
};

/// Of ours.
constexpr Target at_most(double required, std::optional<double> aim = {}) {
  return {.of = TargetOf::kOurs, .better = Better::kLower, .required = required, .aim = aim};
}

/// One line of the table.
struct Row {
  std::string what;
  std::string unit;  ///< Of ours and of the baseline: "/s", "us", "ms", "GB/s", "MB", "".
  Summary ours;
  std::string baseline_name;
  std::optional<Summary> baseline;
  /// Ours to baseline, so that above 1 we are faster, from pairs measured side by side where there
  /// are some.
  std::optional<Summary> ratio;
  std::optional<Target> target;
  std::string note;     ///< How it was measured, and what else came out.
  std::string problem;  ///< Why it could not be measured; then nothing above but `what` counts.
};

/// A row that could not be measured.
Row not_measured(std::string what, std::string problem);

/// "aim met", "met", "MISSED", or nothing without a target.
std::string_view verdict(const Row& row);

/// A Markdown table, padded so that it reads as plain text, and the notes below it.
std::string table_text(std::span<const Row> rows);

/// Appends the rows as an array of objects.
void write_rows(JsonWriter& json, std::span<const Row> rows);

/// "12,345 /s", "0.954", "3.21 ms": three or more digits.
std::string value_text(double value, std::string_view unit);

}  // namespace bmad_mem::bench
