// watchdog.hpp - makes a blocking system call of this thread return EINTR once time is up.
//
// waitpid has no timeout of its own. A timer that signals one thread gives it one, and leaves the
// other threads of the test program alone.
#pragma once

#include <chrono>
#include <ctime>

namespace bmad_mem {

class Watchdog {
 public:
  /// From `timeout` on, the calling thread gets a signal every 100 ms, so that a wait which begins
  /// just after the first one ends too.
  explicit Watchdog(std::chrono::milliseconds timeout);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  bool expired() const { return std::chrono::steady_clock::now() >= deadline_; }

 private:
  std::chrono::steady_clock::time_point deadline_;
  timer_t timer_{};
};

}  // namespace bmad_mem
