#include "stopwatch.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <system_error>

#include <fmt/format.h>

namespace bmad_mem::bench {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

double wall_seconds() { return seconds_of(CLOCK_MONOTONIC); }
double cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

InstructionCounter::InstructionCounter() {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
  wanted.exclude_kernel = 1;  // Allowed to everybody at the usual perf_event_paranoid of 2.
  wanted.exclude_hv = 1;
  // glibc has no function for this call.
  descriptor_ =
      static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (descriptor_ < 0) {
    reason_ = fmt::format("perf_event_open: {}", std::generic_category().message(errno));
  }
}

InstructionCounter::~InstructionCounter() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

std::uint64_t InstructionCounter::read() const {
  std::uint64_t count = 0;
  if (descriptor_ < 0 || ::read(descriptor_, &count, sizeof count) != sizeof count) {
    return 0;
  }
  return count;
}

}  // namespace bmad_mem::bench
