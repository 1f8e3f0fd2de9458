// progress.hpp - a bar on stderr for work that takes long.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// Draws only on a terminal, not with --quiet or --json, and not for work that is done at once. The
/// line is erased when the bar goes away, so it must go before anything else is printed.
///
///   verify  [#########...........]  45 %  312.0 MiB of 693.4 MiB
class Progress {
 public:
  /// `what` must outlive the bar.
  Progress(const Tool& tool, std::string_view what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// `done` of `total` bytes; `total` may be 0.
  void show(std::uint64_t done, std::uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  std::string_view what_;
  bool wanted_;
  bool drawn_ = false;
  Clock::time_point next_;
};

/// "#########..........." for a share from 0 to 1.
std::string bar_text(double share, std::size_t width);

}  // namespace bmad_mem::cli
