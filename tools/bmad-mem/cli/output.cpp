#include "cli/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace bmad_mem::cli {

bool Output::flush() {
  if (filter_ != nullptr && !buffer_.empty()) {
    buffer_ = filter_(buffer_);
  }
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      // Somebody made our terminal or pipe non-blocking: wait until it takes more.
      pollfd poll_for{.fd = descriptor_, .events = POLLOUT, .revents = 0};
      static_cast<void>(::poll(&poll_for, 1, -1));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
  return error_ == 0;
}

}  // namespace bmad_mem::cli
