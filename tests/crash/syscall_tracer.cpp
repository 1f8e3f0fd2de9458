#include "syscall_tracer.hpp"

#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <stdexcept>

#include "syscall_table.hpp"
#include "trace_run.hpp"

namespace bmad_mem {
namespace {

constexpr int kNotTraced = 126;
constexpr int kNotFiltered = 125;

/// Asks for a stop at each call that `program` names. Never allocates. Whether it was granted.
bool install(const sock_fprog& program) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Runs in a forked child: asks to be traced, waits, installs the filter, waits again, runs the
/// body. The second stop tells the parent that the filter is in place. Never allocates before the
/// body.
template <typename Body>
[[noreturn]] void child_main(const sock_fprog& program, const Body& body) {
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
    _exit(kNotTraced);
  }
  raise(SIGSTOP);
  if (!install(program)) {
    _exit(kNotFiltered);
  }
  raise(SIGSTOP);
  _exit(body());
}

/// Waits until the child stands still at `signal`.
void wait_for_stop(pid_t child, int signal) {
  int status = 0;
  while (waitpid(child, &status, __WALL) < 0) {
    if (errno != EINTR) {
      throw_errno("waitpid");
    }
  }
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != signal) {
    const bool is_filter = WIFEXITED(status) && WEXITSTATUS(status) == kNotFiltered;
    throw std::runtime_error(std::string("the kernel refuses ") +
                             (is_filter ? "a seccomp filter" : "to trace a child process") +
                             ", so no system call can be broken here");
  }
}

void set_options(pid_t child) {
  constexpr unsigned kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP |
                                PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, child, nullptr, kOptions) != 0) {
    throw_errno("ptrace");
  }
}

void go_on(pid_t child) {
  if (ptrace(PTRACE_CONT, child, nullptr, nullptr) != 0) {
    throw_errno("ptrace");
  }
}

const sock_fprog& trace_program() {
  static std::vector<sock_filter> filter = make_trace_filter();
  static const sock_fprog kProgram{static_cast<unsigned short>(filter.size()), filter.data()};
  return kProgram;
}

/// A child that runs `body` from a copy of this process.
template <typename Body>
pid_t start_body(const Body& body) {
  const sock_fprog& program = trace_program();
  // The child must not print what the parent has in its buffers; a sanitizer flushes at the end.
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    throw_errno("fork");
  }
  if (child == 0) {
    child_main(program, body);
  }
  wait_for_stop(child, SIGSTOP);
  set_options(child);
  go_on(child);
  wait_for_stop(child, SIGSTOP);
  go_on(child);
  return child;
}

/// What the child below needs, which shares our memory until it is another program.
struct Start {
  const ChildImage& image;
  const sock_fprog& program;
};

__attribute__((no_sanitize("address", "thread"))) int start_main(void* argument) {
  const Start& start = *static_cast<const Start*>(argument);
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
    return kNotTraced;
  }
  return install(start.program) ? start.image.execute() : kNotFiltered;
}

/// A child that is the program of `image`. It does not copy this process first, which takes most of
/// a short run: a sanitizer has hundreds of megabytes mapped. It stops by itself where it has
/// become the program, and this process sleeps until then.
pid_t start_program(const ChildImage& image) {
  Start start{.image = image, .program = trace_program()};
  constexpr std::size_t kStackSize = 256U * 1024;
  static std::vector<std::max_align_t> stack(kStackSize / sizeof(std::max_align_t));
  const pid_t child =
      clone(start_main, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
  if (child < 0) {
    throw_errno("clone");
  }
  wait_for_stop(child, SIGTRAP);
  set_options(child);
  go_on(child);
  return child;
}

struct Ended {
  TraceOutcome outcome;
  int status;
};

Ended trace(pid_t child, const std::string& folder, const SyscallFault& fault,
            std::chrono::milliseconds timeout) {
  TraceRun run(folder, fault, child);
  const int status = run.wait_for_end(timeout);
  return {std::move(run.outcome()), status};
}

}  // namespace

SyscallTracer::SyscallTracer(const std::filesystem::path& folder, std::chrono::milliseconds timeout)
    : folder_(std::filesystem::canonical(folder).string()), timeout_(timeout) {}

TraceOutcome SyscallTracer::run(const ChildCommand& command, const SyscallFault& fault) const {
  const ChildImage image(command);
  Ended ended = trace(start_program(image), folder_, fault, timeout_);
  ended.outcome.process = image.result(ended.status);
  return std::move(ended.outcome);
}

TraceOutcome SyscallTracer::run(const std::function<int()>& body, const SyscallFault& fault) const {
  Ended ended = trace(start_body(body), folder_, fault, timeout_);
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
