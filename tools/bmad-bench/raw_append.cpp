#include "raw_append.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "bench_store.hpp"

namespace bmad_mem::bench {

Status set_whole_file_lock(int descriptor, short type) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  while (::fcntl(descriptor, F_OFD_SETLKW, &range) != 0) {
    if (errno != EINTR) {
      return system_error("lock", "a raw file");
    }
  }
  return {};
}

Result<RawAppender> RawAppender::open(const std::string& path) {
  const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int lock = ::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  RawAppender appender(log, lock);
  if (log < 0 || lock < 0) {
    return system_error("open", path);
  }
  return appender;
}

RawAppender::RawAppender(RawAppender&& other) noexcept
    : log_(std::exchange(other.log_, -1)), lock_(std::exchange(other.lock_, -1)) {}

RawAppender::~RawAppender() {
  for (const int descriptor : {log_, lock_}) {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
  }
}

Status RawAppender::append(std::string_view line) {
  BMAD_TRY(set_whole_file_lock(lock_, F_WRLCK));
  const bool written = ::write(log_, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  BMAD_TRY(set_whole_file_lock(lock_, F_UNLCK));
  if (!written || ::fdatasync(log_) != 0) {
    return system_error("append to", "a raw file");
  }
  return {};
}

}  // namespace bmad_mem::bench
