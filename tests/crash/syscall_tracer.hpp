// syscall_tracer.hpp - runs a program under ptrace and breaks one of its system calls.
//
//   parent (tracer)                         child (the program)
//   fork ------------------------------->   PTRACE_TRACEME, seccomp filter, execve
//   wait  <------- stop at entry --------   write(decisions.jsonl, ...)   is this point k?
//     kill | cut the length | skip | go on
//   wait  <------- stop at exit ---------   the result                    kill, or go on
//
// The seccomp filter stops the program at file-changing calls only; all others run at full speed,
// so a traced run costs little more than an ordinary one. Threads and child processes of the
// program are traced too, and a kill takes all of them. Calls that touch nothing below the watched
// folder are never points. Sleeps return at once.
//
// Needs x86-64, Linux 4.8 or newer, and the right to use ptrace; throws std::runtime_error where
// that is missing, because a harness that skips its work must not look like one that passed.
//
// Threads: a tracer may be used from several threads at once; each waits for its own children only.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "syscall_fault.hpp"

namespace bmad_mem {

/// One recorded system call, in the order of entry.
struct TracePoint {
  CallKind kind = CallKind::kWrite;
  std::string call;       ///< "write", "renameat2", ...
  std::string path;       ///< absolute; the old name of a rename
  std::string path_to;    ///< absolute; the new name of a rename or link, else empty
  std::string bytes;      ///< what a write wanted to write
  bool creates = false;   ///< an open that found no file at `path`
  bool executed = false;  ///< false when it was skipped, or the program was killed before it ran
  long result = 0;        ///< what the call returned, a negative errno when it failed
  int injected = 0;       ///< the errno value that the tracer made it fail with, 0 for none
};

struct TraceOutcome {
  bool reached = false;            ///< whether the point of the fault came up
  bool timed_out = false;          ///< the program was killed because it did not end
  std::size_t fault_index = 0;     ///< index into `points` of the point, when reached
  std::vector<TracePoint> points;  ///< every recorded call, reads and output included
  ChildResult process;
};

class SyscallTracer {
 public:
  /// Watches everything below `folder`, which must exist. A program that runs longer than
  /// `timeout` is killed.
  explicit SyscallTracer(const std::filesystem::path& folder,
                         std::chrono::milliseconds timeout = std::chrono::seconds(20));

  /// Runs a program to its end.
  TraceOutcome run(const ChildCommand& command, const SyscallFault& fault) const;

  /// Runs `body` in a forked child; what it returns is the exit status. For tests of the tracer.
  TraceOutcome run(const std::function<int()>& body, const SyscallFault& fault) const;

 private:
  std::string folder_;
  std::chrono::milliseconds timeout_;
};

/// How many recorded calls of the kinds in `kinds` there are.
std::size_t count_points(const std::vector<TracePoint>& points, CallKinds kinds);

}  // namespace bmad_mem
