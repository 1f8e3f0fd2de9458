#include "tracee.hpp"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "child_process.hpp"

namespace bmad_mem {
namespace {

std::string link_target(const std::string& link) {
  std::array<char, 4096> buffer{};
  const ssize_t size = readlink(link.c_str(), buffer.data(), buffer.size());
  return size < 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(size));
}

}  // namespace

std::uint64_t Registers::argument(int index) const {
  const std::array<std::uint64_t, 6> values = {raw.rdi, raw.rsi, raw.rdx, raw.r10, raw.r8, raw.r9};
  return values.at(static_cast<std::size_t>(index));
}

void Registers::set_argument(int index, std::uint64_t value) {
  const std::array<unsigned long long*, 6> places = {
      // NOLINT(google-runtime-int): the kernel's.
      &raw.rdi, &raw.rsi, &raw.rdx, &raw.r10, &raw.r8, &raw.r9};
  *places.at(static_cast<std::size_t>(index)) = value;
}

void Registers::skip(long value) {
  raw.orig_rax = static_cast<std::uint64_t>(-1);
  raw.rax = static_cast<std::uint64_t>(value);
}

std::optional<Registers> Tracee::registers() const {
  Registers registers;
  if (ptrace(PTRACE_GETREGS, thread_, nullptr, &registers.raw) != 0) {
    if (errno == ESRCH) {
      return std::nullopt;
    }
    throw_errno("PTRACE_GETREGS");
  }
  return registers;
}

void Tracee::set_registers(const Registers& registers) const {
  if (ptrace(PTRACE_SETREGS, thread_, nullptr, &registers.raw) != 0 && errno != ESRCH) {
    throw_errno("PTRACE_SETREGS");
  }
}

std::string Tracee::memory(std::uint64_t address, std::size_t size) const {
  std::string bytes(size, '\0');
  iovec local{bytes.data(), size};
  iovec remote{reinterpret_cast<void*>(address), size};
  const ssize_t count = process_vm_readv(thread_, &local, 1, &remote, 1, 0);
  bytes.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return bytes;
}

void Tracee::set_memory(std::uint64_t address, std::string_view bytes) const {
  std::string copy(bytes);
  iovec local{copy.data(), copy.size()};
  iovec remote{reinterpret_cast<void*>(address), copy.size()};
  if (process_vm_writev(thread_, &local, 1, &remote, 1, 0) != static_cast<ssize_t>(copy.size())) {
    throw_errno("process_vm_writev");
  }
}

std::string Tracee::text(std::uint64_t address) const {
  // A string may end just before an unmapped page, so it is read page by page.
  constexpr std::size_t kPage = 4096;
  std::string text;
  while (text.size() < 2 * kPage) {
    const std::uint64_t at = address + text.size();
    const std::string part = memory(at, kPage - static_cast<std::size_t>(at % kPage));
    const std::size_t end = part.find('\0');
    text.append(part, 0, end);
    if (end != std::string::npos || part.empty()) {
      break;
    }
  }
  return text;
}

std::string Tracee::descriptor_path(int fd) const {
  static constexpr std::string_view kDeleted = " (deleted)";
  std::string path = link_target("/proc/" + std::to_string(thread_) + "/fd/" + std::to_string(fd));
  if (path.ends_with(kDeleted)) {
    path.resize(path.size() - kDeleted.size());
  }
  return path;
}

std::string Tracee::absolute(int dir, const std::string& path) const {
  std::string whole = path;
  if (!path.starts_with('/')) {
    const std::string base = dir == AT_FDCWD
                                 ? link_target("/proc/" + std::to_string(thread_) + "/cwd")
                                 : descriptor_path(dir);
    whole = path.empty() ? base : base + "/" + path;
  }
  std::string normal = std::filesystem::path(whole).lexically_normal().string();
  while (normal.size() > 1 && normal.ends_with('/')) {
    normal.pop_back();
  }
  return normal;
}

}  // namespace bmad_mem
