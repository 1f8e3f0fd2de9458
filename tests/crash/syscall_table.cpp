#include "syscall_table.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#error "The crash harness reads registers of x86-64; other processors need their own table."
#endif

namespace bmad_mem {
namespace {

using enum CallKind;

// fchmodat2 came with Linux 6.6, after the headers of Debian 12.
constexpr long kFchmodat2 = 452;

constexpr auto kShapes = std::to_array<SyscallShape>({
    {.number = SYS_open, .name = "open", .kind = kOpenWrite, .path = 0, .flags = 1},
    {.number = SYS_openat, .name = "openat", .kind = kOpenWrite, .dir = 0, .path = 1, .flags = 2},
    {.number = SYS_openat2, .name = "openat2", .kind = kOpenWrite, .dir = 0, .path = 1, .how = 2},
    {.number = SYS_creat, .name = "creat", .kind = kOpenWrite, .path = 0},
    {.number = SYS_write, .name = "write", .kind = kWrite, .fd = 0, .buffer = 1, .size = 2},
    {.number = SYS_pwrite64, .name = "pwrite64", .kind = kWrite, .fd = 0, .buffer = 1, .size = 2},
    {.number = SYS_writev, .name = "writev", .kind = kWrite, .fd = 0, .vectors = 1, .size = 2},
    {.number = SYS_pwritev, .name = "pwritev", .kind = kWrite, .fd = 0, .vectors = 1, .size = 2},
    {.number = SYS_pwritev2, .name = "pwritev2", .kind = kWrite, .fd = 0, .vectors = 1, .size = 2},
    {.number = SYS_truncate, .name = "truncate", .kind = kTruncate, .path = 0},
    {.number = SYS_ftruncate, .name = "ftruncate", .kind = kTruncate, .fd = 0},
    {.number = SYS_fsync, .name = "fsync", .kind = kSync, .fd = 0},
    {.number = SYS_fdatasync, .name = "fdatasync", .kind = kSync, .fd = 0},
    {.number = SYS_sync_file_range, .name = "sync_file_range", .kind = kSync, .fd = 0},
    {.number = SYS_syncfs, .name = "syncfs", .kind = kSync, .fd = 0},
    {.number = SYS_rename, .name = "rename", .kind = kRename, .path = 0, .path_to = 1},
    {.number = SYS_renameat,
     .name = "renameat",
     .kind = kRename,
     .dir = 0,
     .path = 1,
     .dir_to = 2,
     .path_to = 3},
    {.number = SYS_renameat2,
     .name = "renameat2",
     .kind = kRename,
     .dir = 0,
     .path = 1,
     .dir_to = 2,
     .path_to = 3},
    {.number = SYS_unlink, .name = "unlink", .kind = kUnlink, .path = 0},
    {.number = SYS_unlinkat, .name = "unlinkat", .kind = kUnlink, .dir = 0, .path = 1},
    {.number = SYS_rmdir, .name = "rmdir", .kind = kUnlink, .path = 0},
    {.number = SYS_mkdir, .name = "mkdir", .kind = kMakeNode, .path = 0},
    {.number = SYS_mkdirat, .name = "mkdirat", .kind = kMakeNode, .dir = 0, .path = 1},
    {.number = SYS_mknod, .name = "mknod", .kind = kMakeNode, .path = 0},
    {.number = SYS_mknodat, .name = "mknodat", .kind = kMakeNode, .dir = 0, .path = 1},
    {.number = SYS_link, .name = "link", .kind = kMakeNode, .path = 0, .path_to = 1},
    {.number = SYS_linkat,
     .name = "linkat",
     .kind = kMakeNode,
     .dir = 0,
     .path = 1,
     .dir_to = 2,
     .path_to = 3},
    // What a symbolic link says is text; only the place of the link is a file that changes.
    {.number = SYS_symlink, .name = "symlink", .kind = kMakeNode, .path = 1},
    {.number = SYS_symlinkat, .name = "symlinkat", .kind = kMakeNode, .dir = 1, .path = 2},
    {.number = SYS_chmod, .name = "chmod", .kind = kAttributes, .path = 0},
    {.number = SYS_fchmod, .name = "fchmod", .kind = kAttributes, .fd = 0},
    {.number = SYS_fchmodat, .name = "fchmodat", .kind = kAttributes, .dir = 0, .path = 1},
    {.number = kFchmodat2, .name = "fchmodat2", .kind = kAttributes, .dir = 0, .path = 1},
    {.number = SYS_chown, .name = "chown", .kind = kAttributes, .path = 0},
    {.number = SYS_lchown, .name = "lchown", .kind = kAttributes, .path = 0},
    {.number = SYS_fchown, .name = "fchown", .kind = kAttributes, .fd = 0},
    {.number = SYS_fchownat, .name = "fchownat", .kind = kAttributes, .dir = 0, .path = 1},
    {.number = SYS_utimensat, .name = "utimensat", .kind = kAttributes, .dir = 0, .path = 1},
    {.number = SYS_setxattr, .name = "setxattr", .kind = kAttributes, .path = 0},
    {.number = SYS_fsetxattr, .name = "fsetxattr", .kind = kAttributes, .fd = 0},
    {.number = SYS_fallocate, .name = "fallocate", .kind = kAllocate, .fd = 0},
    {.number = SYS_copy_file_range, .name = "copy_file_range", .kind = kCopy, .fd = 2},
    {.number = SYS_sendfile, .name = "sendfile", .kind = kCopy, .fd = 0},
    {.number = SYS_splice, .name = "splice", .kind = kCopy, .fd = 2},
    {.number = SYS_mmap, .name = "mmap", .kind = kHidden, .fd = 4},
    {.number = SYS_io_uring_setup, .name = "io_uring_setup", .kind = kHidden},
});

constexpr std::array<long, 2> kSleeps = {SYS_nanosleep, SYS_clock_nanosleep};

constexpr std::uint32_t argument_offset(unsigned index) {
  // The low half of a 64-bit argument comes first on a little-endian processor.
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8UL * index);
}

sock_filter load(std::uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }

sock_filter answer(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }

sock_filter jump_equal(std::uint32_t value, std::size_t if_true, std::size_t if_false) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, static_cast<std::uint8_t>(if_true),
                  static_cast<std::uint8_t>(if_false));
}

sock_filter jump_bits(std::uint32_t bits, std::size_t if_true, std::size_t if_false) {
  return BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, static_cast<std::uint8_t>(if_true),
                  static_cast<std::uint8_t>(if_false));
}

}  // namespace

const SyscallShape* find_syscall(long number) {
  const auto* found = std::ranges::find(kShapes, number, &SyscallShape::number);
  return found == kShapes.end() ? nullptr : found;
}

bool is_sleep(long number) { return std::ranges::find(kSleeps, number) != kSleeps.end(); }

std::vector<sock_filter> make_trace_filter() {
  std::vector<std::uint32_t> numbers;
  for (const SyscallShape& shape : kShapes) {
    if (shape.number != SYS_mmap) {
      numbers.push_back(static_cast<std::uint32_t>(shape.number));
    }
  }
  for (const long number : kSleeps) {
    numbers.push_back(static_cast<std::uint32_t>(number));
  }
  std::vector<sock_filter> filter;
  filter.push_back(load(offsetof(seccomp_data, arch)));
  filter.push_back(jump_equal(AUDIT_ARCH_X86_64, 1, 0));
  filter.push_back(answer(SECCOMP_RET_KILL_PROCESS));
  filter.push_back(load(offsetof(seccomp_data, nr)));
  // After the comparisons lie six instructions: five for mmap that end in ALLOW, then TRACE.
  std::size_t left = numbers.size();
  for (const std::uint32_t number : numbers) {
    --left;
    filter.push_back(jump_equal(number, left + 6, 0));
  }
  filter.push_back(jump_equal(SYS_mmap, 0, 4));
  filter.push_back(load(argument_offset(2)));
  filter.push_back(jump_bits(PROT_WRITE, 0, 2));
  filter.push_back(load(argument_offset(3)));
  filter.push_back(jump_bits(MAP_SHARED, 1, 0));
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  filter.push_back(answer(SECCOMP_RET_TRACE));
  return filter;
}

}  // namespace bmad_mem
