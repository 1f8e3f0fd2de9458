// syscall_table.hpp - what the tracer knows about each Linux system call: its kind, and which of
// its arguments name files.
#pragma once

#include <linux/filter.h>

#include <span>
#include <vector>

#include "syscall_fault.hpp"

namespace bmad_mem {

/// Argument positions are 0..5; -1 means that the call has no such argument. A path argument
/// without a directory argument is relative to the working directory.
struct SyscallShape {
  long number;
  const char* name;
  CallKind kind;
  int fd = -1;       ///< a descriptor that is changed
  int dir = -1;      ///< directory descriptor of `path`
  int path = -1;     ///< a path that is changed
  int dir_to = -1;   ///< directory descriptor of `path_to`
  int path_to = -1;  ///< the second path: where a rename or link leads
  int flags = -1;    ///< open flags, by value
  int how = -1;      ///< open flags, as the first field of a struct open_how
  int buffer = -1;   ///< bytes to write, `size` of them
  int vectors = -1;  ///< struct iovec to write, `size` of them
  int size = -1;
};

/// Null for a call that changes no file.
const SyscallShape* find_syscall(long number);

/// True for nanosleep and clock_nanosleep. The tracer answers them at once with 0, so that a
/// program that waits between retries does not slow down a run of thousands of faults.
bool is_sleep(long number);

/// A seccomp filter that stops at the calls of the table, at sleeps, and at mmap when it asks for a
/// writable shared mapping, and lets all others run at full speed.
std::vector<sock_filter> make_trace_filter();

}  // namespace bmad_mem
