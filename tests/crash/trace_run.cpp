#include "trace_run.hpp"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "watchdog.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kNothingPends = SIZE_MAX;
/// Longest write that is recorded in full; a longer one is cut as if it ended here.
constexpr std::size_t kRecordedBytesMax = 1U << 20U;
constexpr std::size_t kVectorsMax = 1024;  // IOV_MAX of Linux.

bool lies_below(const std::string& path, const std::string& folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool exists(const std::string& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0;
}

int directory_argument(const Registers& registers, int index) {
  return index < 0 ? AT_FDCWD : static_cast<int>(registers.argument(index));
}

std::string path_argument(const Tracee& tracee, const Registers& registers, int dir, int path) {
  return tracee.absolute(directory_argument(registers, dir), tracee.text(registers.argument(path)));
}

std::vector<iovec> read_vectors(const Tracee& tracee, const Registers& registers,
                                const SyscallShape& shape) {
  const std::uint64_t count = registers.argument(shape.size);
  std::vector<iovec> vectors(std::min<std::size_t>(count, kVectorsMax));
  const std::string raw =
      tracee.memory(registers.argument(shape.vectors), vectors.size() * sizeof(iovec));
  vectors.resize(raw.size() / sizeof(iovec));
  std::memcpy(vectors.data(), raw.data(), vectors.size() * sizeof(iovec));
  return vectors;
}

std::string written_bytes(const Tracee& tracee, const Registers& registers,
                          const SyscallShape& shape) {
  if (shape.buffer >= 0) {
    const std::uint64_t size = registers.argument(shape.size);
    return tracee.memory(registers.argument(shape.buffer),
                         std::min<std::size_t>(size, kRecordedBytesMax));
  }
  std::string bytes;
  if (shape.vectors >= 0) {
    for (const iovec& part : read_vectors(tracee, registers, shape)) {
      const std::size_t room = kRecordedBytesMax - bytes.size();
      bytes += tracee.memory(reinterpret_cast<std::uint64_t>(part.iov_base),
                             std::min(part.iov_len, room));
    }
  }
  return bytes;
}

CallKind open_kind(const Tracee& tracee, const Registers& registers, const SyscallShape& shape) {
  std::uint64_t flags = O_CREAT;  // creat() has no flags and always creates.
  if (shape.flags >= 0) {
    flags = registers.argument(shape.flags);
  } else if (shape.how >= 0) {
    const std::string raw = tracee.memory(registers.argument(shape.how), sizeof(flags));
    std::memcpy(&flags, raw.data(), raw.size());
  }
  constexpr std::uint64_t kChanging = O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  return (flags & kChanging) != 0 ? CallKind::kOpenWrite : CallKind::kOpenRead;
}

}  // namespace

TraceRun::TraceRun(const std::string& folder, const SyscallFault& fault, pid_t leader)
    : folder_(folder), fault_(fault), leader_(leader) {
  pending_[leader].index = kNothingPends;
}

int TraceRun::wait_for_end(std::chrono::milliseconds timeout) {
  const Watchdog watchdog(timeout);
  for (;;) {
    int status = 0;
    const pid_t thread = waitpid(-1, &status, __WALL | __WNOTHREAD);
    if (thread < 0 && errno == EINTR) {
      if (watchdog.expired()) {
        outcome_.timed_out = true;
        kill_all();
      }
      continue;
    }
    if (thread < 0) {
      return leader_status_;  // ECHILD: nothing that we started is left.
    }
    if (WIFSTOPPED(status)) {
      on_stop(thread, status);
      continue;
    }
    pending_.erase(thread);
    if (thread == leader_) {
      leader_status_ = status;
    }
  }
}

void TraceRun::on_stop(pid_t thread, int status) {
  const int signal = WSTOPSIG(status);
  const int event = status >> 16;
  const auto [known, is_new] = pending_.try_emplace(thread);
  if (is_new) {
    known->second.index = kNothingPends;
  }
  if (event == PTRACE_EVENT_SECCOMP) {
    on_entry(thread);
  } else if (signal == (SIGTRAP | 0x80)) {
    on_return(thread);
  } else if (event != 0 || (is_new && signal == SIGSTOP)) {
    resume(thread, false);  // An announcement, or the first stop of a new thread: no real signal.
  } else {
    resume(thread, false, signal);
  }
}

void TraceRun::on_entry(pid_t thread) {
  const Tracee tracee(thread);
  std::optional<Registers> registers = tracee.registers();
  if (!registers) {
    return;
  }
  const SyscallShape* shape = find_syscall(registers->number());
  if (shape == nullptr) {
    registers->skip(0);  // A sleep; nothing else passes the filter without a shape.
    tracee.set_registers(*registers);
    resume(thread, false);
  } else if (!record(tracee, *registers, *shape)) {
    resume(thread, false);
  } else if (fault_applies(outcome_.points.back())) {
    apply(thread, *registers, *shape);
  } else {
    pending_[thread] = {.index = outcome_.points.size() - 1};
    resume(thread, true);
  }
}

/// Appends the call to the recorded ones; false when it does not concern the watched folder.
bool TraceRun::record(const Tracee& tracee, const Registers& registers, const SyscallShape& shape) {
  TracePoint point;
  point.kind = shape.kind;
  point.call = shape.name;
  if (shape.fd >= 0) {
    point.path = tracee.descriptor_path(static_cast<int>(registers.argument(shape.fd)));
  } else if (shape.path >= 0) {
    point.path = path_argument(tracee, registers, shape.dir, shape.path);
  }
  if (shape.path_to >= 0) {
    point.path_to = path_argument(tracee, registers, shape.dir_to, shape.path_to);
  }
  const bool is_write = shape.kind == CallKind::kWrite;
  const bool is_inside = lies_below(point.path, folder_) || lies_below(point.path_to, folder_);
  if (!is_inside && is_write && registers.argument(shape.fd) == STDOUT_FILENO) {
    point.kind = CallKind::kOutput;
  } else if (!is_inside && registers.number() != SYS_io_uring_setup) {
    return false;
  }
  if (shape.kind == CallKind::kOpenWrite) {
    point.kind = open_kind(tracee, registers, shape);
    point.creates = point.kind == CallKind::kOpenWrite && !exists(point.path);
  }
  if (is_write) {
    point.bytes = written_bytes(tracee, registers, shape);
  }
  outcome_.points.push_back(std::move(point));
  return true;
}

bool TraceRun::is_point(const TracePoint& point) const {
  if ((fault_.kinds & kind_bit(point.kind)) == 0) {
    return false;
  }
  const bool cuts = fault_.action == FaultAction::kTear ||
                    fault_.action == FaultAction::kShortWrite ||
                    fault_.action == FaultAction::kShortThenFail;
  return !cuts || (point.kind == CallKind::kWrite && cut_length(fault_, point.bytes));
}

bool TraceRun::keeps_failing(const TracePoint& point) const {
  if (failures_ >= fault_.failures_max || (fault_.kinds & kind_bit(point.kind)) == 0) {
    return false;
  }
  if (fault_.action == FaultAction::kShortThenFail) {
    return point.kind == CallKind::kWrite;
  }
  return fault_.action == FaultAction::kFail &&
         (fault_.reach == FaultReach::kEverything ||
          (fault_.reach == FaultReach::kSameKind && point.kind == failing_kind_));
}

bool TraceRun::fault_applies(const TracePoint& point) {
  if (fault_.action == FaultAction::kNone) {
    return false;
  }
  if (outcome_.reached) {
    return keeps_failing(point);
  }
  if (!is_point(point) || ++points_seen_ != fault_.point) {
    return false;
  }
  return true;
}

void TraceRun::apply(pid_t thread, Registers& registers, const SyscallShape& shape) {
  Pending pending{.index = outcome_.points.size() - 1};
  const bool is_first = !outcome_.reached;
  if (is_first) {
    outcome_.reached = true;
    outcome_.fault_index = pending.index;
    failing_kind_ = outcome_.points.back().kind;
  }
  if (fault_.action == FaultAction::kFail || !is_first) {
    fail(thread, registers, fault_.error);
    return;
  }
  if (fault_.action == FaultAction::kKillBefore) {
    kill_all();
    return;
  }
  pending.kill = fault_.action == FaultAction::kKillAfter || fault_.action == FaultAction::kTear;
  if (fault_.action != FaultAction::kKillAfter) {
    shorten(thread, registers, shape, pending);
  }
  pending_[thread] = pending;
  resume(thread, true);
}

void TraceRun::fail(pid_t thread, Registers& registers, int error) {
  ++failures_;
  TracePoint& point = outcome_.points.back();
  point.injected = error;
  point.result = -error;
  registers.skip(-error);
  Tracee(thread).set_registers(registers);
  resume(thread, false);
}

void TraceRun::shorten(pid_t thread, Registers& registers, const SyscallShape& shape,
                       Pending& pending) {
  const Tracee tracee(thread);
  const std::size_t length = cut_length(fault_, outcome_.points.back().bytes).value();
  if (shape.vectors >= 0) {
    shorten_vectors(tracee, registers, shape, length, pending);
  } else {
    registers.set_argument(shape.size, length);
  }
  tracee.set_registers(registers);
}

void TraceRun::shorten_vectors(const Tracee& tracee, Registers& registers,
                               const SyscallShape& shape, std::size_t length, Pending& pending) {
  const std::vector<iovec> vectors = read_vectors(tracee, registers, shape);
  std::size_t index = 0;
  while (vectors[index].iov_len < length) {
    length -= vectors[index].iov_len;
    ++index;
  }
  const iovec last{vectors[index].iov_base, length};
  pending.memory_address = registers.argument(shape.vectors) + index * sizeof(iovec);
  pending.memory_before.assign(reinterpret_cast<const char*>(&vectors[index]), sizeof(iovec));
  tracee.set_memory(pending.memory_address, {reinterpret_cast<const char*>(&last), sizeof(iovec)});
  registers.set_argument(shape.size, index + 1);
}

void TraceRun::on_return(pid_t thread) {
  const Tracee tracee(thread);
  const std::optional<Registers> registers = tracee.registers();
  const Pending pending = pending_[thread];
  pending_[thread] = {.index = kNothingPends};
  if (!registers || pending.index == kNothingPends) {
    resume(thread, false);
    return;
  }
  TracePoint& point = outcome_.points[pending.index];
  point.executed = true;
  point.result = registers->result();
  if (pending.kill) {
    kill_all();
    return;
  }
  if (pending.memory_address != 0) {
    tracee.set_memory(pending.memory_address, pending.memory_before);
  }
  resume(thread, false);
}

/// Kills every process of the run. A thread that stands at the entry of a call dies there: the
/// kernel does not start a call for a process with a fatal signal.
void TraceRun::kill_all() {
  for (const auto& [thread, pending] : pending_) {
    kill(thread, SIGKILL);
  }
}

void TraceRun::resume(pid_t thread, bool until_return, int signal) {
  const auto request = until_return ? PTRACE_SYSCALL : PTRACE_CONT;
  if (ptrace(request, thread, nullptr, static_cast<std::uintptr_t>(signal)) != 0 &&
      errno != ESRCH) {
    throw_errno("ptrace resume");
  }
}

}  // namespace bmad_mem
