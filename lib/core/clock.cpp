#include "bmad_mem/clock.hpp"

namespace bmad_mem {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace bmad_mem
