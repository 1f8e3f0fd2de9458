#include "syscall_fault.hpp"

#include <array>
#include <cstring>

namespace bmad_mem {
namespace {

std::size_t raw_cut(Cut cut, std::size_t exact, std::string_view bytes) {
  const std::size_t newline = bytes.find('\n');
  switch (cut) {
    case Cut::kOneByte:
      return 1;
    case Cut::kHalf:
      return bytes.size() / 2;
    case Cut::kAllButLastByte:
      return bytes.empty() ? 0 : bytes.size() - 1;
    case Cut::kFirstLine:
      return newline == std::string_view::npos ? 0 : newline + 1;
    case Cut::kFirstLineUnclosed:
      return newline == std::string_view::npos ? 0 : newline;
    case Cut::kQuarter:
      return bytes.size() / 4;
    case Cut::kThreeQuarters:
      return bytes.size() / 4 * 3;
    case Cut::kExact:
      return exact;
  }
  return 0;
}

std::string cut_name(const SyscallFault& fault) {
  static constexpr std::array<const char*, 7> kNames = {"1 byte",
                                                        "half",
                                                        "all but the last byte",
                                                        "its first line",
                                                        "its first line without newline",
                                                        "a quarter",
                                                        "three quarters"};
  return fault.cut == Cut::kExact ? std::to_string(fault.exact) + " bytes"
                                  : kNames.at(static_cast<std::size_t>(fault.cut));
}

std::string reach_name(FaultReach reach) {
  switch (reach) {
    case FaultReach::kOnce:
      return "once";
    case FaultReach::kSameKind:
      return "from then on, same kind";
    case FaultReach::kEverything:
      return "from then on, every call";
  }
  return {};
}

}  // namespace

std::optional<std::size_t> cut_length(const SyscallFault& fault, std::string_view bytes) {
  const std::size_t length = raw_cut(fault.cut, fault.exact, bytes);
  if (length == 0 || length >= bytes.size()) {
    return std::nullopt;
  }
  for (int earlier = 0; earlier < static_cast<int>(fault.cut) && fault.cut != Cut::kExact;
       ++earlier) {
    if (raw_cut(static_cast<Cut>(earlier), 0, bytes) == length) {
      return std::nullopt;
    }
  }
  return length;
}

std::string describe(const SyscallFault& fault) {
  switch (fault.action) {
    case FaultAction::kNone:
      return "no fault";
    case FaultAction::kKillBefore:
      return "kill before";
    case FaultAction::kKillAfter:
      return "kill after";
    case FaultAction::kTear:
      return "tear after " + cut_name(fault) + " and kill";
    case FaultAction::kShortWrite:
      return "short write of " + cut_name(fault);
    case FaultAction::kShortThenFail:
      return "short write of " + cut_name(fault) + ", then " + strerrorname_np(fault.error);
    case FaultAction::kFail:
      break;
  }
  const bool has_reads = (fault.kinds & kind_bit(CallKind::kOpenRead)) != 0;
  const std::string opens = fault.kinds == kOpens ? " of opens"
                            : has_reads           ? " of changes and opens"
                                                  : "";
  return std::string(strerrorname_np(fault.error)) + opens + " " + reach_name(fault.reach);
}

const char* kind_name(CallKind kind) {
  static constexpr std::array<const char*, 13> kNames = {
      "open for reading", "open", "write",      "truncate", "sync", "rename",
      "unlink",           "make", "attributes", "allocate", "copy", "output",
      "hidden change"};
  return kNames.at(static_cast<std::size_t>(kind));
}

}  // namespace bmad_mem
