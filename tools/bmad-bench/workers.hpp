// workers.hpp - the same work in several processes at once.
//
// A harness of our own, as are all rows that wait for a disk or for processes: Google Benchmark
// runs one function in one process, picks the number of iterations until the time is stable, and
// cannot alternate two variants within milliseconds, which is what cancels the drift of a disk.
//
//   parent    fork × n ........ all ready ── release ──────────── reap
//   worker    open, warm up, ready ── wait ─┴─ append until the deadline, _exit
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem::bench {

/// What one worker did. Plain data in memory that parent and workers share.
struct WorkerResult {
  std::uint64_t count = 0;
  double begin = 0;  ///< wall_seconds() at the first and after the last of `count`.
  double end = 0;
  double longest = 0;  ///< Seconds that the slowest one took.
  double median = 0;   ///< The same of the middle one, where the work tells.
};

/// What a worker waits at until all are ready.
class StartLine {
 public:
  /// For run_workers: writes a byte to `ready`, then waits until `go` is closed at its other end.
  StartLine(int ready, int go) : ready_(ready), go_(go) {}
  /// Returns when all workers have come here.
  void wait();

 private:
  int ready_;
  int go_;
  bool passed_ = false;
};

/// Runs in a forked child, which never returns from run_workers.
using Work = std::function<Status(StartLine& start, WorkerResult& result)>;

/// Runs `work` in `count` processes and waits for all. Errors: the first worker's that failed.
Result<std::vector<WorkerResult>> run_workers(std::size_t count, const Work& work);

/// Each of `works` in a process of its own; the results are in their order.
Result<std::vector<WorkerResult>> run_workers(std::span<const Work> works);

/// Calls `append` for `seconds` and counts.
Status repeat_for(double seconds, const std::function<Status()>& append, WorkerResult& result);

/// Of all workers together, per second.
double rate_of(const std::vector<WorkerResult>& results);

}  // namespace bmad_mem::bench
