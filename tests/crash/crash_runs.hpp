// crash_runs.hpp - one command of a crash table, broken in one way after the other.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "crash_plan.hpp"
#include "crash_store.hpp"
#include "crash_table.hpp"
#include "syscall_tracer.hpp"

namespace bmad_mem {

/// All runs of one command. Broken promises are printed, and counted.
class CommandRuns {
 public:
  CommandRuns(const CrashCommand& command, CrashDepth depth);

  /// The command without a fault: it must succeed and keep every promise.
  void run_unbroken();

  /// Counts the point of `fault` up until a run ends without having reached it. Returns how many
  /// points were reached.
  std::size_t run_series(SyscallFault fault);

  /// At most `runs_max` points of that series, evenly spread; `shift` moves them, so that several
  /// series that are sampled don't meet the same points.
  void run_sample(SyscallFault fault, std::size_t runs_max, std::size_t shift);

  std::string summary() const;
  std::size_t points() const { return points_; }
  std::size_t broken() const { return broken_; }

 private:
  TraceOutcome run(const SyscallFault& fault);
  void report_all(const SyscallFault& fault, const TraceOutcome& outcome,
                  const std::vector<std::string>& sentences);
  void report(const SyscallFault& fault, const TraceOutcome& outcome, const std::string& sentence);

  const CrashCommand& command_;
  CrashDepth depth_;
  CrashStore store_;
  SyscallTracer tracer_;
  std::set<std::string> recovered_;   ///< shapes of the states that went through a recovery
  std::vector<TracePoint> unbroken_;  ///< the calls of the run without a fault
  std::size_t points_ = 0;
  std::size_t runs_ = 0;
  std::size_t recoveries_ = 0;
  std::size_t broken_ = 0;
};

}  // namespace bmad_mem
