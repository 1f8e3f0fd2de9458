#include "exchange/output_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace bmad_mem::cli {
namespace {

Error is_there(const std::string& path) {
  return {.code = ErrorCode::E_CONCURRENT_MOD,
          .message = "the file is there already; --force replaces it",
          .path = path};
}

/// Where the file is to go: a link is followed. Errors: something is there that must stay.
Result<std::string> place_of(const std::string& path, bool force) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? Result<std::string>(path) : file_error("write it", path, errno);
  }
  if (!force) {
    return is_there(path);
  }
  std::string real = real_path_of(path);
  if (real.empty() || ::stat(real.c_str(), &status) != 0) {
    return file_error("follow the link", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = "is no regular file; leave out --output to write to stdout",
                 .path = path};
  }
  return real;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, bool force) {
  BMAD_TRY_ASSIGN(std::string place, place_of(path, force));
  BMAD_TRY_ASSIGN(FileReplacement file, FileReplacement::begin(place));
  return OutputFile(std::move(place), std::move(file), force);
}

OutputFile::OutputFile(std::string path, FileReplacement file, bool force)
    : path_(std::move(path)), file_(std::move(file)), force_(force), out_(file_.descriptor()) {}

Status OutputFile::check() const {
  return out_.error() == 0 ? Status() : file_error("write it", path_, out_.error());
}

Status OutputFile::commit() {
  static_cast<void>(out_.flush());
  BMAD_TRY(check());
  return file_.commit(force_);
}

}  // namespace bmad_mem::cli
