// trace_run.hpp - one traced run: waits for the stops of the program and applies the fault.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "syscall_tracer.hpp"
#include "tracee.hpp"

namespace bmad_mem {

/// Owned by one thread, which must be the one that forked the program.
class TraceRun {
 public:
  /// `leader` is a traced process that stopped before it did anything. `folder` and `fault` must
  /// outlive the run.
  TraceRun(const std::string& folder, const SyscallFault& fault, pid_t leader);

  /// Lets the program run to its end. Returns the wait status of `leader`.
  int wait_for_end(std::chrono::milliseconds timeout);

  TraceOutcome& outcome() { return outcome_; }

 private:
  /// What to do when a call that is under way returns.
  struct Pending {
    std::size_t index = 0;  ///< into outcome_.points
    bool kill = false;
    std::uint64_t memory_address = 0;  ///< memory of the program to put back, 0 for none
    std::string memory_before{};
  };

  void on_stop(pid_t thread, int status);
  void on_entry(pid_t thread);
  void on_return(pid_t thread);
  bool record(const Tracee& tracee, const Registers& registers, const SyscallShape& shape);
  bool fault_applies(const TracePoint& point);
  bool is_point(const TracePoint& point) const;
  bool keeps_failing(const TracePoint& point) const;
  void apply(pid_t thread, Registers& registers, const SyscallShape& shape);
  void shorten(pid_t thread, Registers& registers, const SyscallShape& shape, Pending& pending);
  void shorten_vectors(const Tracee& tracee, Registers& registers, const SyscallShape& shape,
                       std::size_t length, Pending& pending);
  void fail(pid_t thread, Registers& registers, int error);
  void kill_all();
  static void resume(pid_t thread, bool until_return, int signal = 0);

  const std::string& folder_;
  const SyscallFault& fault_;
  pid_t leader_;
  int leader_status_ = 0;
  std::map<pid_t, Pending> pending_;  ///< every living thread; index SIZE_MAX when nothing pends
  std::size_t points_seen_ = 0;
  std::size_t failures_ = 0;
  CallKind failing_kind_ = CallKind::kWrite;
  TraceOutcome outcome_;
};

}  // namespace bmad_mem
