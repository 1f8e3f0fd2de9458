// line_comparison.hpp - how the lines of a log differ from those that were sealed, by their hashes.
//
//   sealed:  a b c d e          lines:  a x c e f        changed 2, lost behind 3; f is new
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bmad_mem {

enum class LineFate : std::uint8_t { kChanged, kLost, kAdded, kDoubled, kMoved };

/// A line that is not as it was sealed.
struct SealDifference {
  LineFate change = LineFate::kChanged;
  std::uint64_t line = 0;   ///< In the log, 1-based; of a lost one, the line it stood behind.
  std::uint64_t count = 1;  ///< Of lines in a row.

  bool operator==(const SealDifference&) const = default;
};

/// How the lines of a log, by their hashes, differ from `sealed`. Lines behind the last sealed one
/// are new, and no difference.
std::vector<SealDifference> compare_lines(std::span<const std::uint32_t> sealed,
                                          std::span<const std::uint32_t> lines);

/// Whether `lines` begin with `front`.
bool begin_with(std::span<const std::uint32_t> lines, std::span<const std::uint32_t> front);

/// How many lines at the end of a log are behind the last sealed one.
std::size_t count_new_lines(std::span<const std::uint32_t> sealed,
                            std::span<const std::uint32_t> lines);

}  // namespace bmad_mem
