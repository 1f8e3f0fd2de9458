// files.cpp - reads whole files, and replaces files atomically.
#include "exchange/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace bmad_mem::cli {
namespace {

constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
constexpr int kOld = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

constexpr std::size_t kReadMax = std::size_t{1} << 30U;

Error is_busy(const std::string& target) {
  return path_error(ErrorCode::E_CONCURRENT_MOD, target,
                    "another process is writing this file; try again when it is done");
}

Error stands_there(const std::string& target) {
  return path_error(ErrorCode::E_CONCURRENT_MOD, target,
                    "the file is there already; --force replaces it");
}

Error is_not_regular(const std::string& path, std::string_view remedy = "") {
  return path_error(ErrorCode::E_STORAGE_IO, path, fmt::format("is no regular file{}", remedy));
}

/// False when another process holds it. A file system without such locks keeps nobody out.
bool lock_file(const Descriptor& file) {
  return ::flock(file.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/// Removes what a killed process left at `path`. False when a living one is at it.
bool remove_left(const std::string& path) {
  const Descriptor old(::open(path.c_str(), kOld));
  if (old.is_open() && !lock_file(old)) {
    return false;
  }
  ::unlink(path.c_str());
  return true;
}

/// Whether the file at `path` is still the one that was opened.
bool is_at(const Descriptor& file, const std::string& path) {
  struct stat opened{};
  struct stat found{};
  return ::fstat(file.number(), &opened) == 0 && ::lstat(path.c_str(), &found) == 0 &&
         opened.st_dev == found.st_dev && opened.st_ino == found.st_ino;
}

/// Where an output is to go: a link is followed. Errors: something is there that must stay.
Result<std::string> place_of(const std::string& path, bool force) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? Result<std::string>(path) : file_error("write it", path, errno);
  }
  if (!force) {
    return stands_there(path);
  }
  std::string real = real_path_of(path);
  if (real.empty() || ::stat(real.c_str(), &status) != 0) {
    return file_error("follow the link", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return is_not_regular(path, "; leave out --output to write to stdout");
  }
  return real;
}

}  // namespace

Error file_error(std::string_view what, const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {
      .code = full ? ErrorCode::E_STORAGE_FULL : ErrorCode::E_STORAGE_IO,
      .message = fmt::format("cannot {}: {}{}", what, std::strerror(error),
                             !full            ? ""
                             : is_there(path) ? "; the file is as it was; make room and try again"
                                              : "; no file was made; make room and try again"),
      .path = path,
      .os_error = error};
}

std::string real_path_of(const std::string& path) {
  const auto release = [](char* text) { std::free(text); };  // NOLINT(*-no-malloc): realpath's.
  const std::unique_ptr<char, decltype(release)> real(::realpath(path.c_str(), nullptr), release);
  return real == nullptr ? std::string() : std::string(real.get());
}

bool is_there(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

Status sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) {
    return {};  // A folder that may be written to but not read: the file is in its place.
  }
  return ::fsync(opened.number()) == 0 ? Status() : file_error("make it durable", path, errno);
}

bool read_bytes(const Descriptor& file, std::size_t size, std::string& bytes) {
  bytes.resize(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file.number(), bytes.data() + done, size - done);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      bytes.resize(done);
      return got == 0;
    }
    done += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  return true;
}

bool write_bytes(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(file.number(), bytes.data(), bytes.size());
    if (size < 0 && errno != EINTR) {
      return false;
    }
    bytes.remove_prefix(size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  return true;
}

bool write_copy(const std::string& path, std::string_view bytes) {
  constexpr mode_t kOwnerOnly = 0600;
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerOnly));
  return file.is_open() && write_bytes(file, bytes);
}

ScratchFolder::ScratchFolder() {
  std::error_code problem;
  std::string path = (std::filesystem::temp_directory_path(problem) / "bmad-mem-XXXXXX").string();
  // With a problem the path is relative: in the folder of the user's project.
  if (!problem && ::mkdtemp(path.data()) != nullptr) {
    path_ = path;
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) {
    std::filesystem::remove_all(path_, ignored);
  }
}

Result<std::string> read_regular_file(const std::string& path) {
  // O_NONBLOCK: a FIFO must not keep anybody waiting before it is known as one.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!file.is_open() || ::fstat(file.number(), &status) != 0) {
    return file_error("read it", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return is_not_regular(path);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > kReadMax) {
    return path_error(ErrorCode::E_SIZE_LIMIT, path, "is larger than 1 GiB");
  }
  std::string text;
  return read_bytes(file, size, text) ? Result<std::string>(std::move(text))
                                      : file_error("read it", path, errno);
}

Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  std::filesystem::directory_iterator entry(folder, problem);
  for (; !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
    names.push_back(entry->path().filename().string());
  }
  if (problem) {
    return file_error("list the folder", folder, problem.value());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string_view> lines_of(std::string_view text, char end) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find(end)));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

Status replace_file(const std::string& path, std::string_view text) {
  const std::string real = real_path_of(path);
  const std::string target = real.empty() ? path : real;
  struct stat status{};
  const bool is_old = ::stat(target.c_str(), &status) == 0;
  if (is_old && !S_ISREG(status.st_mode)) {
    return is_not_regular(path);
  }
  BMAD_TRY_ASSIGN(FileReplacement fresh, FileReplacement::begin(target));
  if (is_old && ::fchmod(fresh.descriptor(), status.st_mode & 07777U) != 0) {
    return file_error("write it", path, errno);
  }
  BMAD_TRY(fresh.write(text));
  return fresh.commit(/*over=*/true);
}

Result<FileReplacement> FileReplacement::begin(std::string target) {
  std::string temporary = target + ".bmad-mem.tmp";
  constexpr int kTries = 3;  // Others may begin, too.
  for (int i = 0; i < kTries; ++i) {
    Descriptor file(::open(temporary.c_str(), kNew, 0600));
    if (file.is_open()) {
      return lock_file(file) ? Result<FileReplacement>(FileReplacement(
                                   std::move(target), std::move(temporary), std::move(file)))
                             : is_busy(target);
    }
    if (errno != EEXIST) {
      return file_error("write it", target, errno);
    }
    if (!remove_left(temporary)) {
      return is_busy(target);
    }
  }
  return is_busy(target);
}

FileReplacement::FileReplacement(std::string target, std::string temporary, Descriptor file)
    : target_(std::move(target)), temporary_(std::move(temporary)), file_(std::move(file)) {}

FileReplacement::FileReplacement(FileReplacement&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)) {}

FileReplacement::~FileReplacement() {
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

Status FileReplacement::write(std::string_view text) {
  assert(file_.is_open() && !temporary_.empty());
  return write_bytes(file_, text) ? Status() : file_error("write it", target_, errno);
}

Status FileReplacement::commit(bool over) {
  assert(!temporary_.empty() && "a file is put into its place once");
  if (::fsync(file_.number()) != 0) {
    return file_error("make it durable", target_, errno);
  }
  if (!is_at(file_, temporary_)) {
    temporary_.clear();  // Another process's by now.
    return is_busy(target_);
  }
  BMAD_TRY(move_over(over));
  ::unlink(temporary_.c_str());
  temporary_.clear();
  return sync_folder_of(target_);
}

/// Somebody else may have made a file of this name meanwhile; link() doesn't replace it.
Status FileReplacement::move_over(bool over) const {
  if (!over && ::link(temporary_.c_str(), target_.c_str()) == 0) {
    return {};
  }
  if (!over && errno == EEXIST) {
    return stands_there(target_);
  }
  // Also where a file system has no links.
  return ::rename(temporary_.c_str(), target_.c_str()) == 0
             ? Status()
             : Status(file_error("put it into its place", target_, errno));
}

Result<OutputFile> OutputFile::create(const std::string& path, bool force) {
  BMAD_TRY_ASSIGN(std::string place, place_of(path, force));
  BMAD_TRY_ASSIGN(FileReplacement file, FileReplacement::begin(place));
  return OutputFile(std::move(place), std::move(file), force);
}

OutputFile::OutputFile(std::string path, FileReplacement file, bool force)
    : path_(std::move(path)), file_(std::move(file)), force_(force), out_(file_.descriptor()) {}

Status OutputFile::commit() {
  return out_.flush() ? file_.commit(force_) : file_error("write it", path_, out_.error());
}

}  // namespace bmad_mem::cli
