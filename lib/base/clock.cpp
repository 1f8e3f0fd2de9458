#include "bmad_mem/clock.hpp"

#include <atomic>

namespace bmad_mem {
namespace {

std::atomic<std::chrono::milliseconds::rep> clock_shift_ms = 0;

Timestamp machine_time() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override { return machine_time() + system_clock_shift(); }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

void move_system_clock(Timestamp now) { clock_shift_ms = (now - machine_time()).count(); }

std::chrono::milliseconds system_clock_shift() {
  return std::chrono::milliseconds(clock_shift_ms.load(std::memory_order_relaxed));
}

}  // namespace bmad_mem
