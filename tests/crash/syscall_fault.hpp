// syscall_fault.hpp - which system calls count, and what the tracer does to one of them.
//
//   a run:    open(.lock)  write(decisions.jsonl)  fdatasync(decisions.jsonl)  rename(a, b)
//   points:        1                 2                          3                    4
//
// A point is a call that touches a file below the watched folder and is of a kind that the fault
// admits. Points are counted from 1 in the order in which the calls are entered. A fault names one
// point; the calls before it run untouched, so the n-th point is the same call in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bmad_mem {

/// What a system call does to the file system.
enum class CallKind : std::uint8_t {
  kOpenRead,    ///< open that changes nothing; a point only for faults that ask for it (EMFILE)
  kOpenWrite,   ///< open that may create or truncate
  kWrite,       ///< write, pwrite64, writev, pwritev, pwritev2
  kTruncate,    ///< truncate, ftruncate
  kSync,        ///< fsync, fdatasync, sync_file_range, syncfs
  kRename,      ///< rename, renameat, renameat2
  kUnlink,      ///< unlink, unlinkat, rmdir
  kMakeNode,    ///< mkdir, link, symlink, mknod and their *at forms
  kAttributes,  ///< chmod, chown, utimensat, setxattr and their f* and *at forms
  kAllocate,    ///< fallocate
  kCopy,        ///< copy_file_range, sendfile, splice
  kOutput,      ///< a write to standard output: recorded, because it acknowledges; never a point
  kHidden,      ///< a writable shared mapping or an io_uring: changes that no tracer sees
};

/// Sets of kinds, one bit each.
using CallKinds = std::uint32_t;
constexpr CallKinds kind_bit(CallKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr CallKinds kOpens = kind_bit(CallKind::kOpenRead) | kind_bit(CallKind::kOpenWrite);
constexpr CallKinds kWrites = kind_bit(CallKind::kWrite);
constexpr CallKinds kChanges = kind_bit(CallKind::kOpenWrite) | kWrites |
                               kind_bit(CallKind::kTruncate) | kind_bit(CallKind::kSync) |
                               kind_bit(CallKind::kRename) | kind_bit(CallKind::kUnlink) |
                               kind_bit(CallKind::kMakeNode) | kind_bit(CallKind::kAttributes) |
                               kind_bit(CallKind::kAllocate) | kind_bit(CallKind::kCopy);

/// Where a write is cut. Each names a length strictly between 0 and the whole.
enum class Cut : std::uint8_t {
  kOneByte,
  kHalf,
  kAllButLastByte,
  kFirstLine,          ///< up to and with the first '\n'
  kFirstLineUnclosed,  ///< up to the first '\n', without it
  kQuarter,
  kThreeQuarters,
  kExact,  ///< after as many bytes as the fault says
};

enum class FaultAction : std::uint8_t {
  kNone,
  kKillBefore,     ///< SIGKILL at the entry of the call, which does not run
  kKillAfter,      ///< SIGKILL when the call has run
  kTear,           ///< the write is cut, runs, and SIGKILL follows
  kShortWrite,     ///< the write is cut, runs, and returns the shorter length
  kShortThenFail,  ///< as kShortWrite, and every later write fails with `error`: a disk that fills
  kFail,           ///< the call does not run and returns -`error`
};

/// How long a failure lasts.
enum class FaultReach : std::uint8_t {
  kOnce,
  kSameKind,    ///< this call and every later one of the same kind
  kEverything,  ///< this call and every later one that the fault admits
};

/// One fault. The default is no fault at all.
struct SyscallFault {
  FaultAction action = FaultAction::kNone;
  CallKinds kinds = kChanges;  ///< which calls are points
  std::size_t point = 0;       ///< 1-based
  Cut cut = Cut::kHalf;        ///< for tears and short writes
  std::size_t exact = 0;       ///< for Cut::kExact, in bytes
  int error = 0;               ///< an errno value, for failures
  FaultReach reach = FaultReach::kOnce;
  /// A failure that lasts is withdrawn after this many calls. Right code repeats a call that a
  /// signal interrupted, so EINTR for ever would be a loop that proves nothing.
  std::size_t failures_max = SIZE_MAX;
};

/// The length at which `fault` cuts a write of `bytes`; none when the cut would leave nothing or
/// everything, or when another cut that comes earlier in the enumeration gives the same length.
std::optional<std::size_t> cut_length(const SyscallFault& fault, std::string_view bytes);

/// "kill before", "EIO on this and later calls of the kind", ...: without the point.
std::string describe(const SyscallFault& fault);

const char* kind_name(CallKind kind);

}  // namespace bmad_mem
