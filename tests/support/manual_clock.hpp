// manual_clock.hpp - a clock that stands still until a test moves it.
#pragma once

#include <atomic>
#include <chrono>
#include <string_view>

#include "bmad_mem/clock.hpp"

namespace bmad_mem::test {

/// Threads: safe.
class ManualClock final : public Clock {
 public:
  /// Starts at 2026-01-11T10:00:00Z.
  ManualClock() = default;
  explicit ManualClock(Timestamp start) : now_(start) {}
  /// Starts at an RFC 3339 time, which must be one.
  explicit ManualClock(std::string_view start);

  [[nodiscard]] Timestamp now() const override { return now_.load(); }
  void set(Timestamp now) { now_ = now; }
  void set(std::string_view now);
  /// Forwards, or back when negative.
  void advance(std::chrono::milliseconds by) { now_ = now_.load() + by; }

 private:
  std::atomic<Timestamp> now_ = Timestamp(std::chrono::milliseconds(1'768'125'600'000));
};

}  // namespace bmad_mem::test
