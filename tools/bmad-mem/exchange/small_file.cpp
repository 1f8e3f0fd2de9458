#include "exchange/small_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "descriptor.hpp"
#include "exchange/replacement.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 30U;

Error failed(std::string_view what, const std::string& path, int error) {
  return Error{.code = error == ENOSPC ? ErrorCode::E_STORAGE_FULL : ErrorCode::E_STORAGE_IO,
               .message = fmt::format("cannot {} it: {}", what, std::strerror(error)),
               .path = path,
               .os_error = error};
}

}  // namespace

Result<std::string> read_regular_file(const std::string& path) {
  // O_NONBLOCK: a FIFO must not keep anybody waiting before it is known as one.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) {
    return failed("read", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{.code = ErrorCode::E_STORAGE_IO, .message = "is no regular file", .path = path};
  }
  if (static_cast<std::uint64_t>(status.st_size) > kSizeMax) {
    return Error{.code = ErrorCode::E_SIZE_LIMIT, .message = "is larger than 1 GiB", .path = path};
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t size = ::read(file.number(), text.data() + done, text.size() - done);
    if (size < 0 && errno != EINTR) {
      return failed("read", path, errno);
    }
    if (size == 0) {
      break;
    }
    done += size > 0 ? static_cast<std::size_t>(size) : 0;
  }
  text.resize(done);
  return text;
}

Status replace_file(const std::string& path, std::string_view text) {
  const std::string real = real_path_of(path);
  const std::string target = real.empty() ? path : real;
  struct stat status{};
  const bool is_old = ::stat(target.c_str(), &status) == 0;
  if (is_old && !S_ISREG(status.st_mode)) {
    return Error{.code = ErrorCode::E_STORAGE_IO, .message = "is no regular file", .path = path};
  }
  BMAD_TRY_ASSIGN(FileReplacement fresh, FileReplacement::begin(target));
  if (is_old && ::fchmod(fresh.descriptor(), status.st_mode & 07777U) != 0) {
    return failed("write", path, errno);
  }
  BMAD_TRY(fresh.write(text));
  return fresh.commit(/*over=*/true);
}

bool is_there(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace bmad_mem::cli
