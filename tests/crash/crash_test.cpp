// The crash harness: breaks each mutating command at each system call that changes a file, in every
// way that a process or a disk can break it, and looks whether the promises still hold.
//
// BMAD_MEM_BINARY         the program under test, instead of the one that was built
// BMAD_CRASH_EXHAUSTIVE   set to 1: the deepest plan of crash_plan.hpp
// BMAD_CRASH_TMP          folder for the stores, instead of /dev/shm
// BMAD_CRASH_KEEP         set: the stores stay
#include <cstdio>
#include <set>

#include <doctest/doctest.h>

#include "crash_checks.hpp"
#include "crash_evidence.hpp"
#include "crash_plan.hpp"
#include "crash_shape.hpp"
#include "crash_store.hpp"
#include "crash_table.hpp"
#include "sync_order.hpp"
#include "syscall_tracer.hpp"

namespace bmad_mem {
namespace {

/// Broken promises of one command that are printed in full; the others are counted.
constexpr std::size_t kShownMax = 20;

std::string describe_point(const TraceOutcome& outcome) {
  if (!outcome.reached) {
    return "not reached";
  }
  const TracePoint& point = outcome.points[outcome.fault_index];
  const std::string to = point.path_to.empty() ? "" : " -> " + point.path_to;
  return point.call + "(" + point.path + to + ")";
}

/// All runs of one command.
class CommandRuns {
 public:
  CommandRuns(const CrashCommand& command, CrashDepth depth)
      : command_(command), depth_(depth), store_(binary_under_test()), tracer_(store_.folder()) {
    command.prepare(store_);
    store_.keep_as_template();
  }

  /// The command without a fault: it must succeed and keep every promise.
  void run_unbroken() {
    const TraceOutcome outcome = run({});
    points_ = count_points(outcome.points, kChanges);
    if (count_points(outcome.points, kind_bit(CallKind::kHidden)) != 0) {
      report({}, outcome, "the command changes files in a way that no fault can reach");
    }
  }

  /// Counts the point of `fault` up until a run ends without having reached it. Returns how many
  /// points were reached.
  std::size_t run_series(SyscallFault fault) {
    do {
      ++fault.point;
    } while (run(fault).reached);
    return fault.point - 1;
  }

  std::string summary() const {
    return std::string(command_.name) + ": " + std::to_string(points_) + " points, " +
           std::to_string(runs_) + " runs, " + std::to_string(recoveries_) + " recoveries, " +
           std::to_string(broken_) + " broken promises";
  }

  std::size_t points() const { return points_; }
  std::size_t broken() const { return broken_; }

 private:
  TraceOutcome run(const SyscallFault& fault) {
    store_.reset();
    TraceOutcome outcome = tracer_.run(store_.command(command_.arguments, command_.input), fault);
    ++runs_;
    if (!outcome.reached && !outcome.process.succeeded()) {
      report(fault, outcome, "without a fault the command fails: " + outcome.process.err);
    }
    report_all(fault, outcome, check_state(store_, command_, outcome));
    if (outcome.process.succeeded()) {
      // A kill leaves the page cache alone, so that a success would also have survived a power
      // cut is read off the calls.
      report_all(fault, outcome,
                 unsafe_when_acknowledged(outcome.points, store_.folder().string()));
    }
    const std::string shape = state_shape(CrashEvidence(store_, command_, outcome));
    if (recovered_.insert(shape).second || depth_ == CrashDepth::kExhaustive) {
      ++recoveries_;
      report_all(fault, outcome, check_recovery(store_, command_, outcome));
    }
    return outcome;
  }

  void report_all(const SyscallFault& fault, const TraceOutcome& outcome,
                  const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) {
      report(fault, outcome, sentence);
    }
  }

  void report(const SyscallFault& fault, const TraceOutcome& outcome, const std::string& sentence) {
    if (++broken_ <= kShownMax) {
      MESSAGE(std::string(command_.name) << ", " << describe(fault) << ", point " << fault.point
                                         << " " << describe_point(outcome) << "\n    " << sentence);
    }
  }

  const CrashCommand& command_;
  CrashDepth depth_;
  CrashStore store_;
  SyscallTracer tracer_;
  std::set<std::string> recovered_;  ///< shapes of the states that went through a recovery
  std::size_t points_ = 0;
  std::size_t runs_ = 0;
  std::size_t recoveries_ = 0;
  std::size_t broken_ = 0;
};

}  // namespace

TEST_CASE("a broken command loses nothing that was acknowledged") {
  const CrashPlan plan = make_plan(wanted_depth());
  for (const CrashCommand& command : crash_table()) {
    SUBCASE(command.name) {
      CommandRuns runs(command, plan.depth);
      runs.run_unbroken();
      for (SyscallFault fault : plan.series) {
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

}  // namespace bmad_mem
