#include "crash_runs.hpp"

#include <algorithm>
#include <cerrno>

#include <doctest/doctest.h>

#include "crash_checks.hpp"
#include "crash_evidence.hpp"
#include "crash_shape.hpp"
#include "sync_order.hpp"

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

}  // namespace

CommandRuns::CommandRuns(const CrashCommand& command, CrashDepth depth)
    : command_(command), depth_(depth), store_(binary_under_test()), tracer_(store_.folder()) {
  command.prepare(store_);
  store_.keep_as_template();
}

void CommandRuns::run_unbroken() {
  const TraceOutcome outcome = run({});
  unbroken_ = outcome.points;
  points_ = count_points(outcome.points, kChanges);
  if (count_points(outcome.points, kind_bit(CallKind::kHidden)) != 0) {
    report({}, outcome, "the command changes files in a way that no fault can reach");
  }
}

std::size_t CommandRuns::run_series(SyscallFault fault) {
  do {
    ++fault.point;
  } while (run(fault).reached);
  return fault.point - 1;
}

void CommandRuns::run_sample(SyscallFault fault, std::size_t runs_max, std::size_t shift) {
  const bool cuts_writes = fault.action == FaultAction::kTear ||
                           fault.action == FaultAction::kShortWrite ||
                           fault.action == FaultAction::kShortThenFail;
  const std::size_t points = count_points(unbroken_, cuts_writes ? kWrites : fault.kinds);
  const std::size_t stride = points / runs_max + 1;
  for (fault.point = 1 + shift % stride; fault.point <= points; fault.point += stride) {
    if (!run(fault).reached) {
      break;
    }
  }
}

std::string CommandRuns::summary() const {
  return std::string(command_.name) + ": " + std::to_string(points_) + " points, " +
         std::to_string(runs_) + " runs, " + std::to_string(recoveries_) + " recoveries, " +
         std::to_string(broken_) + " broken promises";
}

TraceOutcome CommandRuns::run(const SyscallFault& fault) {
  store_.reset();
  TraceOutcome outcome = tracer_.run(store_.command(command_.arguments, command_.input), fault);
  ++runs_;
  if (!outcome.reached && !outcome.process.succeeded()) {
    report(fault, outcome, "without a fault the command fails: " + outcome.process.err);
  }
  report_all(fault, outcome, check_state(store_, command_, outcome));
  // A purge goes on where a full disk does not take its note: what it destroys is gone all the
  // same.
  const bool is_forgiven = !command_.doomed.empty() && fault.kinds == kind_bit(CallKind::kSync) &&
                           (fault.error == ENOSPC || fault.error == EDQUOT);
  if (outcome.process.succeeded() && !is_forgiven) {
    // A kill leaves the page cache alone, so that a success would also have survived a power
    // cut is read off the calls.
    report_all(fault, outcome, unsafe_when_acknowledged(outcome.points, store_.folder().string()));
  }
  const std::string shape = state_shape(CrashEvidence(store_, command_, outcome));
  if (recovered_.insert(shape).second || depth_ == CrashDepth::kExhaustive) {
    ++recoveries_;
    report_all(fault, outcome, check_recovery(store_, command_, outcome));
  }
  return outcome;
}

void CommandRuns::report_all(const SyscallFault& fault, const TraceOutcome& outcome,
                             const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) {
    report(fault, outcome, sentence);
  }
}

void CommandRuns::report(const SyscallFault& fault, const TraceOutcome& outcome,
                         const std::string& sentence) {
  if (++broken_ <= kShownMax) {
    MESSAGE(std::string(command_.name) << ", " << describe(fault) << ", point " << fault.point
                                       << " " << describe_point(outcome) << "\n    " << sentence);
  }
}

}  // namespace bmad_mem
