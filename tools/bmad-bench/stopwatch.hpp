// stopwatch.hpp - time that passed, time the processor worked, and instructions it retired.
//
// On a shared machine the three disagree: wall time contains the neighbours, CPU time contains
// their cache misses, instructions contain neither.
#pragma once

#include <cstdint>
#include <string>

namespace bmad_mem::bench {

/// CLOCK_MONOTONIC, in seconds: the same for all processes of the machine.
double wall_seconds();

/// What this process used so far in user and kernel mode, all threads, in seconds.
double cpu_seconds();

/// Instructions that this thread retires in user mode, where the kernel and the (virtual) machine
/// allow counting.
class InstructionCounter {
 public:
  InstructionCounter();
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;
  ~InstructionCounter();

  [[nodiscard]] bool available() const { return descriptor_ >= 0; }
  /// Why not; empty when available.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Counted since the start; 0 when not available.
  [[nodiscard]] std::uint64_t read() const;

 private:
  int descriptor_ = -1;
  std::string reason_;
};

}  // namespace bmad_mem::bench
