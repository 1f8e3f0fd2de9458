#include "kernel_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "posix_error.hpp"

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
  if (const int error = set_lock(*file_, F_OFD_SETLKW, F_WRLCK, kGateByte, 1); error != 0) {
    return lock_error(error, path_);
  }
  const int error = set_lock(*file_, F_OFD_SETLKW, F_WRLCK, kLockByte, 1);
  set_lock(*file_, F_OFD_SETLK, F_UNLCK, kGateByte, 1);
  if (error != 0) {
    return lock_error(error, path_);
  }
  return {};
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

}  // namespace bmad_mem
