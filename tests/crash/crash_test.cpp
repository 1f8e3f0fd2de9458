// The crash harness: breaks each mutating command at each system call that changes a file, in every
// way that a process or a disk can break it, and looks whether the promises still hold. By default
// a process is killed at every call, and of the other ways a few calls are tried, others for each.
//
// BMAD_CRASH_ALL_POINTS   set to 1: every call, in every way
// BMAD_MEM_BINARY         the program under test, instead of the one that was built
// BMAD_CRASH_EXHAUSTIVE   set to 1: the deepest plan of crash_plan.hpp
// BMAD_CRASH_TMP          folder for the stores, instead of /dev/shm
// BMAD_CRASH_KEEP         set: the stores stay
#include <cstdio>

#include <doctest/doctest.h>

#include "crash_plan.hpp"
#include "crash_runs.hpp"
#include "crash_table.hpp"

namespace bmad_mem::crash_test {

TEST_CASE("a broken command loses nothing that was acknowledged") {
  const CrashPlan plan = make_plan(wanted_depth());
  const bool all_points = wants_all_points() || plan.depth == CrashDepth::kExhaustive;
  for (const CrashCommand& command : crash_table()) {
    SUBCASE(command.name) {
      CommandRuns runs(command, plan.depth);
      runs.run_unbroken();
      std::size_t shift = 0;
      for (SyscallFault fault : plan.series) {
        if (!all_points && fault.action != FaultAction::kKillBefore) {
          constexpr std::size_t kRunsMax = 3;
          runs.run_sample(fault, kRunsMax, shift++);
          continue;
        }
        // A cut at an exact byte moves on through the longest write.
        while (runs.run_series(fault) != 0 && fault.cut == Cut::kExact) {
          ++fault.exact;
        }
      }
      std::puts(runs.summary().c_str());
      CHECK(runs.points() > 0);
      CHECK(runs.broken() == 0);
    }
  }
}

TEST_CASE("what a run of the crash harness leaves out is said") {
  const CrashPlan plan = make_plan(wanted_depth());
  std::printf("%zu series of faults for each command\n", plan.series.size());
  for (const std::string& what : plan.left_out) {
    std::printf("left out: %s\n", what.c_str());
  }
  CHECK(plan.left_out.empty() == (plan.depth == CrashDepth::kExhaustive));
}

}  // namespace bmad_mem::crash_test
