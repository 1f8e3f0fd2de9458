#include "watchdog.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "child_process.hpp"

namespace bmad_mem {
namespace {

void install_handler() {
  static const bool installed = [] {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    // Without SA_RESTART: the whole purpose is that the wait does not go on.
    return sigaction(SIGALRM, &action, nullptr) == 0;
  }();
  if (!installed) {
    throw_errno("sigaction");
  }
}

timespec to_timespec(std::chrono::milliseconds duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  const std::chrono::nanoseconds rest = duration - seconds;
  return {static_cast<time_t>(seconds.count()), static_cast<long>(rest.count())};
}

}  // namespace

Watchdog::Watchdog(std::chrono::milliseconds timeout)
    : deadline_(std::chrono::steady_clock::now() + timeout) {
  install_handler();
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) {
    throw_errno("timer_create");
  }
  itimerspec times{};
  times.it_value = to_timespec(timeout);
  times.it_interval = to_timespec(std::chrono::milliseconds(100));
  if (timer_settime(timer_, 0, &times, nullptr) != 0) {
    throw_errno("timer_settime");
  }
}

Watchdog::~Watchdog() { timer_delete(timer_); }

}  // namespace bmad_mem
