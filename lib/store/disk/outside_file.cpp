// outside_file.cpp - reading a file of the user's own, outside of any root.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {
namespace {

enum class Readers : std::uint8_t { kAny, kOwnerOnly };

Result<std::string> read(const std::string& path, std::uint64_t size_max, Readers readers) {
  // O_NONBLOCK: a FIFO must not keep anybody waiting before it is known as one.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) {
    return posix_error(errno, "open", path);
  }
  if (!S_ISREG(status.st_mode)) {
    return path_error(ErrorCode::E_STORAGE_IO, path, "is not a regular file");
  }
  constexpr mode_t kOthers = 077;
  if (readers == Readers::kOwnerOnly &&
      (status.st_uid != ::geteuid() || (status.st_mode & kOthers) != 0)) {
    return path_error(ErrorCode::E_ACCESS_DENIED, path,
                      fmt::format("holds a secret, and others may read it: it must be yours, "
                                  "with mode 600, and has mode {:o}",
                                  status.st_mode & 07777U));
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > size_max) {
    return path_error(
        ErrorCode::E_SIZE_LIMIT, path,
        fmt::format("has {} bytes, more than the {} that it may have", size, size_max));
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

}  // namespace

Result<std::string> read_outside_file(const std::string& path, std::uint64_t size_max) {
  return read(path, size_max, Readers::kAny);
}

std::uint64_t outside_file_stamp(const std::string& path) {
  struct stat status{};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) {
    return 0;
  }
  return xxh3(fmt::format("{} {} {} {}.{}", status.st_dev, status.st_ino, status.st_size,
                          status.st_ctim.tv_sec, status.st_ctim.tv_nsec));
}

Result<std::string> read_private_file(const std::string& path, std::uint64_t size_max) {
  return read(path, size_max, Readers::kOwnerOnly);
}

Status create_private_file(const std::string& path, std::string_view text) {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::absolute(path, failed).parent_path();
  std::filesystem::create_directories(folder, failed);
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    return errno == EEXIST ? Status() : Status(posix_error(errno, "create", path));
  }
  const auto size = static_cast<ssize_t>(text.size());
  const bool is_written =
      ::write(file.get(), text.data(), text.size()) == size && ::fsync(file.get()) == 0;
  const Descriptor above(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (is_written && above.is_open() && ::fsync(above.get()) == 0) {
    return {};
  }
  const int number = errno;
  ::unlink(path.c_str());
  return posix_error(number, "write", path);
}

}  // namespace bmad_mem
