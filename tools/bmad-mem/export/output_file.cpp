#include "export/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace bmad_mem::cli {
namespace {

Error system_error(std::string_view what, const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {.code = full ? ErrorCode::E_STORAGE_FULL : ErrorCode::E_STORAGE_IO,
          .message = fmt::format("cannot {}: {}{}", what, std::strerror(error),
                                 full ? "; nothing is left of it, make room and try again" : ""),
          .path = path,
          .os_error = error};
}

Error is_there(const std::string& path) {
  return {.code = ErrorCode::E_CONCURRENT_MOD,
          .message = "the file is there already; --force replaces it",
          .path = path};
}

/// Where the file is to go: a link is followed. Errors: something is there that must stay.
Result<std::string> place_of(const std::string& path, bool force) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? Result<std::string>(path) : system_error("write it", path, errno);
  }
  if (!force) {
    return is_there(path);
  }
  const auto release = [](char* text) { std::free(text); };  // NOLINT(*-no-malloc): realpath's.
  const std::unique_ptr<char, decltype(release)> real(::realpath(path.c_str(), nullptr), release);
  if (real == nullptr || ::stat(real.get(), &status) != 0) {
    return system_error("follow the link", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = "is no regular file; leave out --output to write to stdout",
                 .path = path};
  }
  return std::string(real.get());
}

Status sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return {};  // A folder that may be written to but not read: the file is in its place.
  }
  const bool synced = ::fsync(descriptor) == 0;
  const int error = errno;
  static_cast<void>(::close(descriptor));
  return synced ? Status() : system_error("make it durable", path, error);
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, bool force) {
  BMAD_TRY_ASSIGN(std::string place, place_of(path, force));
  std::string temporary = fmt::format("{}.{}.tmp", place, ::getpid());
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return system_error("write it", path, errno);
  }
  return OutputFile(std::move(place), std::move(temporary), descriptor, force);
}

OutputFile::OutputFile(std::string path, std::string temporary, int descriptor, bool force)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      descriptor_(descriptor),
      force_(force),
      out_(descriptor) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      force_(other.force_),
      out_(std::move(other.out_)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) {
    static_cast<void>(::close(descriptor_));
  }
  if (!temporary_.empty()) {
    static_cast<void>(::unlink(temporary_.c_str()));
  }
}

Status OutputFile::check() const {
  return out_.error() == 0 ? Status() : system_error("write it", path_, out_.error());
}

Status OutputFile::commit() {
  static_cast<void>(out_.flush());
  BMAD_TRY(check());
  if (::fsync(descriptor_) != 0) {
    return system_error("make it durable", path_, errno);
  }
  // Somebody else may have made a file of this name meanwhile; link() doesn't replace it.
  if (force_ && ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return system_error("put it into its place", path_, errno);
  }
  if (!force_ && ::link(temporary_.c_str(), path_.c_str()) != 0) {
    if (errno == EEXIST) {
      return is_there(path_);
    }
    // Not every file system has links.
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
      return system_error("put it into its place", path_, errno);
    }
  }
  static_cast<void>(::unlink(temporary_.c_str()));
  temporary_.clear();
  return sync_folder_of(path_);
}

}  // namespace bmad_mem::cli
