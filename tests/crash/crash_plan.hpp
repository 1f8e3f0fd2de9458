// crash_plan.hpp - the series of faults that each command meets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "syscall_fault.hpp"

namespace bmad_mem {

enum class CrashDepth : std::uint8_t {
  kQuick,       ///< the errors with the reach in which they occur in practice: for slow programs
  kFull,        ///< every series; each state that a fault leaves behind is recovered once
  kExhaustive,  ///< every series, a tear at every byte, and a recovery after every fault
};

/// kExhaustive when $BMAD_CRASH_EXHAUSTIVE is set and not 0; else kQuick in a build with
/// sanitizers, whose programs take ten times as long to start; else kFull.
CrashDepth wanted_depth();

/// Whether $BMAD_CRASH_ALL_POINTS is set and not 0: no samples.
bool wants_all_points();

/// Each fault stands for a series: its point counts up from 1 until a run ends without reaching it.
struct CrashPlan {
  CrashDepth depth = CrashDepth::kFull;
  std::vector<SyscallFault> series;
  std::vector<std::string> left_out;  ///< what a deeper plan would do, for people
};

CrashPlan make_plan(CrashDepth depth);

}  // namespace bmad_mem
