// outside_file.cpp - reading a file of the user's own, outside of any root.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

#include "descriptor.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {

Result<std::string> read_outside_file(const std::string& path, std::uint64_t size_max) {
  // O_NONBLOCK: a FIFO must not keep anybody waiting before it is known as one.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) {
    return posix_error(errno, "open", path);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{.code = ErrorCode::E_STORAGE_IO, .message = "is not a regular file", .path = path};
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > size_max) {
    return Error{
        .code = ErrorCode::E_SIZE_LIMIT,
        .message = fmt::format("has {} bytes, more than the {} that it may have", size, size_max),
        .path = path};
  }
  std::string text(size, '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + done, text.size() - done);
    if (got < 0 && errno != EINTR) {
      return posix_error(errno, "read", path);
    }
    if (got == 0) {
      break;  // Cut short meanwhile.
    }
    done += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  text.resize(done);
  return text;
}

}  // namespace bmad_mem
