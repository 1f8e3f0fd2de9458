// tracee.hpp - one stopped thread of the traced program: its registers, memory and files.
//
// Every function needs the thread to be in a ptrace stop, and throws std::runtime_error when the
// kernel refuses, except where a killed thread is an ordinary answer.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "syscall_table.hpp"

namespace bmad_mem {

struct Registers {
  user_regs_struct raw{};

  long number() const { return static_cast<long>(raw.orig_rax); }
  long result() const { return static_cast<long>(raw.rax); }
  std::uint64_t argument(int index) const;
  void set_argument(int index, std::uint64_t value);
  /// The call will not run and returns `value`.
  void skip(long value);
};

class Tracee {
 public:
  explicit Tracee(pid_t thread) : thread_(thread) {}

  /// None when the thread died meanwhile.
  std::optional<Registers> registers() const;
  void set_registers(const Registers& registers) const;

  /// At most `size` bytes at `address`; shorter where unreadable memory begins.
  std::string memory(std::uint64_t address, std::size_t size) const;
  void set_memory(std::uint64_t address, std::string_view bytes) const;
  std::string text(std::uint64_t address) const;

  /// The absolute path behind a descriptor, without " (deleted)"; "pipe:[1]" and the like stay.
  std::string descriptor_path(int fd) const;
  /// `path` as this thread would resolve it, made absolute and lexically normal. Symbolic links
  /// stay as they are. `dir` is a descriptor or AT_FDCWD.
  std::string absolute(int dir, const std::string& path) const;

 private:
  pid_t thread_;
};

}  // namespace bmad_mem
