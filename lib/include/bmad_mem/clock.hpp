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

/// The machine's wall clock, or what move_system_clock() made of it; lives as long as the process.
const Clock& system_clock();

/// Makes system_clock() say `now` at this moment, and go on with the machine's clock from there:
/// for this process, and also for the times that files get which it writes into a memory, since
/// how long a session was idle is read off these. A tool for tests: `bmad-mem` does it for
/// $BMAD_MEM_NOW. Threads: call it before others ask for the time.
void move_system_clock(Timestamp now);

/// What system_clock() says less what the machine's clock says; 0 when it was not moved.
std::chrono::milliseconds system_clock_shift();

}  // namespace bmad_mem
