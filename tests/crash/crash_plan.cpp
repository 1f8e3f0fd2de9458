#include "crash_plan.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace bmad_mem {
namespace {

constexpr std::array<int, 6> kErrors = {EIO, ENOSPC, EDQUOT, EMFILE, ENOMEM, EINTR};
constexpr std::array<FaultReach, 3> kReaches = {FaultReach::kOnce, FaultReach::kSameKind,
                                                FaultReach::kEverything};
constexpr std::array<Cut, 7> kCuts = {
    Cut::kOneByte,           Cut::kHalf,    Cut::kAllButLastByte, Cut::kFirstLine,
    Cut::kFirstLineUnclosed, Cut::kQuarter, Cut::kThreeQuarters};
/// Right code repeats an interrupted call, so an interruption that lasts has to end some day.
constexpr std::size_t kInterruptionsMax = 20;

SyscallFault failing(int error, FaultReach reach, CallKinds kinds) {
  SyscallFault fault{.action = FaultAction::kFail, .kinds = kinds, .error = error, .reach = reach};
  if (error == EINTR) {
    fault.failures_max = kInterruptionsMax;
  }
  return fault;
}

bool is_quick_failure(const SyscallFault& fault) {
  const bool is_once = fault.reach == FaultReach::kOnce;
  const bool is_kind = fault.reach == FaultReach::kSameKind;
  if (fault.kinds == kOpens) {
    return !is_kind;  // Descriptors run out for a moment or for good.
  }
  const bool has_reads = (fault.kinds & kind_bit(CallKind::kOpenRead)) != 0;
  switch (fault.error) {
    case EIO:  // A dying disk fails once, in one way, or for good; then reads fail too.
      return !has_reads || (!is_once && !is_kind);
    case ENOSPC:  // A full disk stays full.
      return !has_reads && !is_once;
    case EINTR:
      return !has_reads && (is_once || is_kind);
    default:
      return !has_reads && is_once;
  }
}

bool is_quick(const SyscallFault& fault) {
  switch (fault.action) {
    case FaultAction::kFail:
      return is_quick_failure(fault);
    case FaultAction::kTear:
      return fault.cut != Cut::kQuarter && fault.cut != Cut::kThreeQuarters;
    case FaultAction::kShortWrite:
    case FaultAction::kShortThenFail:
      return fault.cut == Cut::kHalf || fault.cut == Cut::kFirstLine;
    default:
      return true;
  }
}

std::vector<SyscallFault> every_series() {
  std::vector<SyscallFault> series;
  series.push_back({.action = FaultAction::kKillBefore});
  series.push_back({.action = FaultAction::kKillAfter});
  for (const Cut cut : kCuts) {
    series.push_back({.action = FaultAction::kTear, .cut = cut});
    series.push_back({.action = FaultAction::kShortWrite, .cut = cut});
    series.push_back({.action = FaultAction::kShortThenFail, .cut = cut, .error = ENOSPC});
  }
  for (const int error : kErrors) {
    for (const FaultReach reach : kReaches) {
      if (error == ENOMEM && reach != FaultReach::kOnce) {
        continue;  // As EMFILE; the kernel finds memory again.
      }
      const bool is_lack = error == EMFILE || error == ENOMEM;  // Of descriptors, of memory.
      series.push_back(failing(error, reach, is_lack ? kOpens : kChanges));
      // Opens for reading too: on a dying disk both fail.
      series.push_back(failing(error, reach, kChanges | kOpens));
    }
  }
  return series;
}

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && std::strcmp(value, "0") != 0;
}

}  // namespace

bool wants_all_points() { return is_set("BMAD_CRASH_ALL_POINTS"); }

CrashDepth wanted_depth() {
  if (is_set("BMAD_CRASH_EXHAUSTIVE")) {
    return CrashDepth::kExhaustive;
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return CrashDepth::kQuick;
#else
  return CrashDepth::kFull;
#endif
}

CrashPlan make_plan(CrashDepth depth) {
  CrashPlan plan{.depth = depth, .series = every_series(), .left_out = {}};
  if (depth == CrashDepth::kQuick) {
    const auto left = std::ranges::stable_partition(plan.series, is_quick);
    for (const SyscallFault& fault : left) {
      plan.left_out.push_back(describe(fault));
    }
    plan.series.erase(left.begin(), left.end());
  }
  if (depth == CrashDepth::kExhaustive) {
    plan.series.push_back({.action = FaultAction::kTear, .cut = Cut::kExact, .exact = 1});
  } else {
    plan.left_out.emplace_back("tear at every other byte");
    plan.left_out.emplace_back(
        "a second recovery of a state, equal up to ids and times, that an "
        "earlier fault had left behind too");
  }
  return plan;
}

}  // namespace bmad_mem
