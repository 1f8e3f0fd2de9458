#include "syscall_tracer.hpp"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <stdexcept>

#include "syscall_table.hpp"
#include "trace_run.hpp"

namespace bmad_mem {
namespace {

/// Runs in the child: asks to be traced, waits, installs the filter, waits again, runs the body.
/// The second stop tells the parent that the filter is in place. Never allocates before the body.
template <typename Body>
[[noreturn]] void child_main(const sock_fprog& program, const Body& body) {
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
    _exit(126);
  }
  raise(SIGSTOP);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    _exit(126);
  }
  raise(SIGSTOP);
  _exit(body());
}

void wait_for_first_stop(pid_t child, const char* what) {
  int status = 0;
  while (waitpid(child, &status, __WALL) < 0) {
    if (errno != EINTR) {
      throw_errno("waitpid");
    }
  }
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP) {
    throw std::runtime_error(std::string("the kernel refuses ") + what +
                             ", so no system call can be broken here");
  }
}

void set_up(pid_t child) {
  wait_for_first_stop(child, "to trace a child process");
  constexpr unsigned kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP |
                                PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, child, nullptr, kOptions) != 0 ||
      ptrace(PTRACE_CONT, child, nullptr, nullptr) != 0) {
    throw_errno("ptrace");
  }
  wait_for_first_stop(child, "a seccomp filter");
  if (ptrace(PTRACE_CONT, child, nullptr, nullptr) != 0) {
    throw_errno("ptrace");
  }
}

struct Ended {
  TraceOutcome outcome;
  int status;
};

template <typename Body>
Ended trace(const std::string& folder, const SyscallFault& fault, std::chrono::milliseconds timeout,
            const Body& body) {
  static std::vector<sock_filter> filter = make_trace_filter();
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  // The child must not print what the parent has in its buffers; a sanitizer flushes at the end.
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    throw_errno("fork");
  }
  if (child == 0) {
    child_main(program, body);
  }
  set_up(child);
  TraceRun run(folder, fault, child);
  const int status = run.wait_for_end(timeout);
  return {std::move(run.outcome()), status};
}

}  // namespace

SyscallTracer::SyscallTracer(const std::filesystem::path& folder, std::chrono::milliseconds timeout)
    : folder_(std::filesystem::canonical(folder).string()), timeout_(timeout) {}

TraceOutcome SyscallTracer::run(const ChildCommand& command, const SyscallFault& fault) const {
  const ChildImage image(command);
  Ended ended = trace(folder_, fault, timeout_, [&image] { return image.execute(); });
  ended.outcome.process = image.result(ended.status);
  return std::move(ended.outcome);
}

TraceOutcome SyscallTracer::run(const std::function<int()>& body, const SyscallFault& fault) const {
  Ended ended = trace(folder_, fault, timeout_, body);
  ChildResult& process = ended.outcome.process;
  if (WIFSIGNALED(ended.status)) {
    process.signal = WTERMSIG(ended.status);
  } else {
    process.exit_code = WEXITSTATUS(ended.status);
  }
  return std::move(ended.outcome);
}

std::size_t count_points(const std::vector<TracePoint>& points, CallKinds kinds) {
  return static_cast<std::size_t>(std::ranges::count_if(
      points, [kinds](const TracePoint& point) { return (kinds & kind_bit(point.kind)) != 0; }));
}

}  // namespace bmad_mem
