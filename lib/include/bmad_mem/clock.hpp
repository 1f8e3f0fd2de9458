// clock.hpp - the time the engine believes in. It is passed in, so that tests can set it.
#pragma once

#include <chrono>

namespace bmad_mem {

/// A moment in UTC, in whole milliseconds since 1970-01-01T00:00:00Z.
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

/// Where the engine gets the time from. Implementations are safe to call from any thread.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// The present moment. May jump in both directions, as wall clocks do.
  [[nodiscard]] virtual Timestamp now() const = 0;
};

/// The machine's wall clock; lives as long as the process.
const Clock& system_clock();

}  // namespace bmad_mem
