// kernel_lock.cpp - the kernel's locks on a lock file, and the name that a holder leaves.
#include "kernel_lock.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <charconv>

#include <fmt/format.h>

#include "base/process.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "store/posix_file_system.hpp"

#ifndef F_OFD_SETLK
#error "No open-file-description locks here: build on Linux, with glibc 2.20 or later."
#endif

namespace bmad_mem {
namespace {

constexpr off_t kLockByte = 0;
constexpr off_t kGateByte = 1;

/// 0, or errno.
int set_lock(const File& file, int command, short type, off_t start, off_t size) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = start;
  range.l_len = size;
  while (::fcntl(file.descriptor(), command, &range) != 0) {
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

Error lock_error(int error_number, const std::string& path) {
  Error error = posix_error(error_number, "lock", path);
  if (error_number == ENOLCK || error_number == EOPNOTSUPP || error_number == ENOSYS) {
    error.message =
        "the file system has no locks, so two writers could not be kept apart; move the memory to "
        "a local disk and name it with --root";
  }
  return error;
}

KernelLock::KernelLock(std::unique_ptr<File> file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {}

Result<bool> KernelLock::try_lock() {
  if (file_->descriptor() < 0) {
    return true;
  }
  const int error = set_lock(*file_, F_OFD_SETLK, F_WRLCK, kLockByte, 2);
  if (error == 0) {
    // Keeping the gate would make all waiters stand before it and race with us when we come again:
    // measured over 8 processes, most / least turns 1.2 to 3.3 instead of 1.1 to 1.4.
    set_lock(*file_, F_OFD_SETLK, F_UNLCK, kGateByte, 1);
    return true;
  }
  if (error == EAGAIN || error == EACCES) {
    return false;
  }
  return lock_error(error, path_);
}

Status KernelLock::lock() {
  assert(file_->descriptor() >= 0 && "try_lock() takes any other file at once");
  if (const int error = set_lock(*file_, F_OFD_SETLKW, F_WRLCK, kGateByte, 1); error != 0) {
    return lock_error(error, path_);
  }
  const int error = set_lock(*file_, F_OFD_SETLKW, F_WRLCK, kLockByte, 1);
  set_lock(*file_, F_OFD_SETLK, F_UNLCK, kGateByte, 1);
  return error != 0 ? Status(lock_error(error, path_)) : Status();
}

void KernelLock::unlock() {
  if (file_->descriptor() >= 0) {
    set_lock(*file_, F_OFD_SETLK, F_UNLCK, kLockByte, 1);
  }
}

namespace {

/// The lock that stands in the way of taking this one; its l_type is F_UNLCK when none does.
struct flock blocking_lock(const File& file) {
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_len = 1;
  if (file.descriptor() < 0 || ::fcntl(file.descriptor(), F_OFD_GETLK, &range) != 0) {
    range.l_type = F_UNLCK;
  }
  return range;
}

}  // namespace

bool KernelLock::is_held() const { return blocking_lock(*file_).l_type != F_UNLCK; }

std::optional<int> KernelLock::holder() const {
  const struct flock lock = blocking_lock(*file_);
  if (lock.l_type == F_UNLCK || lock.l_pid <= 0) {
    return std::nullopt;  // An open-file-description lock has no process: its l_pid is -1.
  }
  return lock.l_pid;
}

namespace {

// Every text is padded to this size: one overwrite replaces whatever stood there before.
constexpr std::size_t kInfoSize = 512;
constexpr std::size_t kNameSizeMax = 64;

/// When process `pid` started, in clock ticks since boot (proc(5), field 22 of stat); 0 when there
/// is no such process. Tells a process from a later one with the same number.
std::uint64_t process_start(int pid) {
  const Descriptor file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> buffer{};
  const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
  std::string_view text(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  // Field 2 is the program's name in parentheses and may hold anything, so count behind it.
  text.remove_prefix(text.rfind(')') + 1);  // npos + 1 is 0.
  constexpr int kFieldsToSkip = 20;         // From field 3, one blank before each, to field 22.
  for (int i = 0; i < kFieldsToSkip; ++i) {
    text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
  }
  std::uint64_t start = 0;
  std::from_chars(text.data(), text.data() + text.size(), start);
  return start;
}

/// Looked up once a process; a forked child is another one.
std::uint64_t own_process_start() {
  static std::atomic<int> known_pid = 0;
  static std::atomic<std::uint64_t> known_start = 0;
  const int pid = process_id();
  if (known_pid.load(std::memory_order_acquire) != pid) {
    known_start.store(process_start(pid), std::memory_order_relaxed);
    known_pid.store(pid, std::memory_order_release);
  }
  return known_start.load(std::memory_order_relaxed);
}

bool still_runs(int pid, std::uint64_t start) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) {
    return false;
  }
  const std::uint64_t found = process_start(pid);
  return found == 0 || start == 0 || found == start;
}

/// What stands in the information file; no object when nothing is there that names a process.
std::optional<JsonValue> read_info(JsonParser& parser, File& info_file) {
  const Result<JsonValue> info = parser.parse(read_range(info_file, 0, kInfoSize).value_or(""));
  if (!info || !info->is_object() || (*info)["pid"].integer() <= 0) {
    return std::nullopt;
  }
  return *info;
}

/// Whether the process that left its name may still be there: one on another host is not asked.
bool may_run(const JsonValue& info) {
  return info["host"].string() != host_name() ||
         still_runs(static_cast<int>(info["pid"].integer()),
                    static_cast<std::uint64_t>(info["pid_start"].integer()));
}

}  // namespace

void write_lock_info(File& info_file, std::string_view operation, std::string_view agent_id,
                     Timestamp now) {
  JsonWriter writer;
  writer.begin_object()
      .member("pid", process_id())
      .member("pid_start", own_process_start())
      .member("host", utf8_prefix(host_name(), kNameSizeMax))
      .member("agent_id", utf8_prefix(agent_id, kNameSizeMax))
      .member("operation", utf8_prefix(operation, kNameSizeMax))
      .member("acquired_at", format_rfc3339(now))
      .end_object();
  std::string text = writer.take();
  text.resize(kInfoSize - 1, ' ');
  text += '\n';
  static_cast<void>(info_file.write_at(0, text));
}

LockHolder read_lock_holder(File& info_file, std::optional<int> kernel_pid) {
  JsonParser parser;
  const std::optional<JsonValue> info = read_info(parser, info_file);
  if (kernel_pid && (!info || *kernel_pid != (*info)["pid"].integer())) {
    return {.pid = *kernel_pid};
  }
  if (!info || !may_run(*info)) {
    return {};
  }
  return {.pid = static_cast<int>((*info)["pid"].integer()),
          .host = std::string((*info)["host"].string()),
          .agent_id = std::string((*info)["agent_id"].string()),
          .operation = std::string((*info)["operation"].string()),
          .acquired_at = try_parse_rfc3339((*info)["acquired_at"].string())};
}

}  // namespace bmad_mem
