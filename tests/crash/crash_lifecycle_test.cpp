// The commands of the life cycle, broken as crash_test.cpp breaks the others. They make hundreds of
// calls and each check takes a dozen programs, so by default a few calls of each are broken, spread
// over all of them.
//
// BMAD_CRASH_ALL_POINTS   set to 1: every call that changes something
// BMAD_CRASH_EXHAUSTIVE   set to 1: every call, in every way
#include <cerrno>
#include <cstdio>

#include <doctest/doctest.h>

#include "crash_plan.hpp"
#include "crash_runs.hpp"
#include "crash_table.hpp"

namespace bmad_mem::crash_lifecycle_test {
namespace {

struct SampledSeries {
  SyscallFault fault;
  std::size_t runs_max;
};

/// Changing the mode of a file needs no room. Nor are syncs among them: a purge forgives a full
/// disk that its last note is not durable. That syncs fail is EIO's part.
SyscallFault full_disk() {
  return {.action = FaultAction::kFail,
          .kinds = kChanges & ~kind_bit(CallKind::kAttributes) & ~kind_bit(CallKind::kSync),
          .error = ENOSPC,
          .reach = FaultReach::kSameKind};
}

/// A sync that answers that the disk or the quota is full, as thin volumes and network disks do:
/// of a file, or of a folder after the rename in it.
SyscallFault full_at_sync(int error) {
  return {.action = FaultAction::kFail, .kinds = kind_bit(CallKind::kSync), .error = error};
}

/// How a process and a disk mostly die.
std::vector<SampledSeries> sampled_series() {
  return {
      {{.action = FaultAction::kKillBefore}, 20},
      {{.action = FaultAction::kTear, .cut = Cut::kHalf}, 4},
      {{.action = FaultAction::kFail, .error = EIO}, 6},
      {full_disk(), 4},
      {full_at_sync(ENOSPC), 8},
      {full_at_sync(EDQUOT), 3},
      {{.action = FaultAction::kFail, .kinds = kOpens, .error = EMFILE}, 2},
      {{.action = FaultAction::kFail, .kinds = kOpens, .error = ENOMEM}, 2},
      {{.action = FaultAction::kFail, .error = EIO, .reach = FaultReach::kEverything}, 4},
  };
}

}  // namespace

TEST_CASE("a broken command of the life cycle loses nothing and leaves nothing twice") {
  const bool all_points = wants_all_points();
  const bool all_faults = wanted_depth() == CrashDepth::kExhaustive;
  for (const CrashCommand& command : lifecycle_crash_table()) {
    SUBCASE(command.name) {
      CommandRuns runs(command, CrashDepth::kFull);
      runs.run_unbroken();
      if (all_faults) {
        for (SyscallFault fault : make_plan(CrashDepth::kFull).series) {
          if (fault.error == ENOSPC || fault.error == EDQUOT) {
            fault.kinds &= full_disk().kinds;
          }
          runs.run_series(fault);
        }
      } else {
        std::size_t shift = 0;
        for (const SampledSeries& series : sampled_series()) {
          runs.run_sample(series.fault, all_points ? SIZE_MAX : series.runs_max, shift++);
        }
      }
      std::puts(runs.summary().c_str());
      CHECK(runs.points() > 0);
      CHECK(runs.broken() == 0);
    }
  }
}

}  // namespace bmad_mem::crash_lifecycle_test
