// workers.hpp - work in several processes at once.
//
// A harness of our own, as are all rows that wait for a disk or for processes: Google Benchmark
// runs one function in one process, picks the number of iterations until the time is stable, and
// cannot alternate two variants within milliseconds, which is what cancels the drift of a disk.
//
//   parent    fork × n ........................................... reap
//   worker    open, warm up ── start() until all are here ── work until the deadline, _exit
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "machine.hpp"

namespace bmad_mem::bench {

/// What one worker did.
struct WorkerResult {
  std::uint64_t count = 0;
  double begin = 0;  ///< wall_seconds() at the first and after the last of `count`.
  double end = 0;
  double longest = 0;  ///< Seconds that the slowest one took.
  double other = 0;    ///< What else the work tells.
};

/// What the workers share with each other; a worker's own result with its parent.
struct Shared {
  std::atomic<int> arrived = 0;
};

/// Runs in a forked child.
class Worker {
 public:
  Worker(Shared& all, int count, WorkerResult& own) : shared(all), result(own), count_(count) {}
  /// Returns when all workers have come here, or after 20 seconds. Without effect from then on.
  void start();
  /// Calls `step` for so long, and counts.
  void repeat_for(double seconds, const std::function<void()>& step) const;

  Shared& shared;
  WorkerResult& result;

 private:
  int count_;
  bool started_ = false;
};

using Work = std::function<void(Worker& worker)>;

/// Each of `works` in a process of its own; the results are in their order. Throws the first
/// worker's error.
std::vector<WorkerResult> run_workers(const std::vector<Work>& works);

/// Of all workers together, per second.
double rate_of(const std::vector<WorkerResult>& results);

/// Sets (F_WRLCK) or clears (F_UNLCK) an open-file-description lock on the whole file.
void set_whole_file_lock(int descriptor, short type);

/// The least that a durable append can be, the floor under every append of ours: lock, write,
/// unlock, fdatasync. No check, no id, no look at what the file contains. A log and a lock file
/// beside it; each instance locks for itself, also within a process.
class RawAppender {
 public:
  /// Opens `path` for appending and `path`.lock, made when missing.
  explicit RawAppender(const std::string& path);
  /// Waits for the lock in the kernel as long as it takes.
  void append(std::string_view line);

 private:
  Descriptor log_;
  Descriptor lock_;
};

}  // namespace bmad_mem::bench
