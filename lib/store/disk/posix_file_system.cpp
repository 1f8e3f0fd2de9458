// posix_file_system.cpp - the file system of the kernel, below one root and without links.
#include "store/posix_file_system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/question.hpp"

namespace bmad_mem {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

/// Repeats `call` while a signal interrupts it.
template <typename Call>
auto retry_interrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

/// A file of this size is read at once, whatever is in it.
constexpr off_t kSparseSizeMax = off_t{64} << 20U;

/// Whether the file is a hole for the most part: a few bytes on somebody's disk that would be hours
/// of zeros to whoever reads them. Blocks alone don't tell: zfs counts them late.
bool is_sparse(const struct stat& status, int descriptor) {
  constexpr off_t kBlockSize = 512;
  constexpr off_t kShareMin = 64;
  return status.st_size > kSparseSizeMax &&
         status.st_blocks < status.st_size / kBlockSize / kShareMin &&
         ::lseek(descriptor, 0, SEEK_HOLE) < status.st_size;
}

FileInfo to_file_info(const struct stat& status) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .mtime_ns = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec,
          .kind = S_ISDIR(status.st_mode)   ? FileKind::kDirectory
                  : S_ISREG(status.st_mode) ? FileKind::kRegular
                                            : FileKind::kOther,
          .links = status.st_nlink,
          .ctime_ns = status.st_ctim.tv_sec * kNanoseconds + status.st_ctim.tv_nsec};
}

/// Where tests have moved the clock, what is written bears the moved time. A file system that keeps
/// no times is no reason to fail.
void stamp_moved_time(int descriptor) {
  using namespace std::chrono;
  if (system_clock_shift() == milliseconds::zero()) {
    return;
  }
  const milliseconds now = system_clock().now().time_since_epoch();
  const seconds whole = floor<seconds>(now);
  const timespec stamp = {.tv_sec = whole.count(), .tv_nsec = nanoseconds(now - whole).count()};
  const std::array<timespec, 2> times = {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, stamp};
  static_cast<void>(::futimens(descriptor, times.data()));
}

class PosixFile final : public File {
 public:
  PosixFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    if (out.size() >= std::size_t{4} << 20U) {
      take_memory_now(std::as_writable_bytes(out));
    }
    std::size_t size = 0;
    while (size < out.size()) {
      const std::span rest = out.subspan(size);
      const ssize_t got = retry_interrupted([&] {
        return ::pread(fd(), rest.data(), rest.size(), static_cast<off_t>(offset + size));
      });
      if (got <= 0) {
        return got < 0 ? Result<std::size_t>(posix_error(errno, "read", path_)) : size;
      }
      assert(static_cast<std::size_t>(got) <= rest.size());
      size += static_cast<std::size_t>(got);
    }
    return size;
  }

  Result<std::size_t> write(std::string_view bytes) override {
    return written(retry_interrupted([&] { return ::write(fd(), bytes.data(), bytes.size()); }));
  }

  Result<std::size_t> write_at(std::uint64_t offset, std::string_view bytes) override {
    return written(retry_interrupted(
        [&] { return ::pwrite(fd(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); }));
  }

  Status truncate(std::uint64_t size) override {
    BMAD_TRY(checked(retry_interrupted([&] { return ::ftruncate(fd(), static_cast<off_t>(size)); }),
                     "shorten"));
    stamp_moved_time(fd());
    Question::note_change();
    return {};
  }

  Status set_mtime(std::int64_t mtime_ns) override {
    constexpr std::int64_t kNanoseconds = 1'000'000'000;
    const std::array<timespec, 2> times = {
        timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
        timespec{.tv_sec = mtime_ns / kNanoseconds, .tv_nsec = mtime_ns % kNanoseconds}};
    return checked(::futimens(fd(), times.data()), "set the time of");
  }

  // A failed sync is not repeated: ext4, xfs and btrfs answer OK the second time and have thrown
  // the bytes away. EINTR alone means that it did not run to its end.
  Status sync_data() override {
    return checked(retry_interrupted([&] { return ::fdatasync(fd()); }), "make durable");
  }
  Status sync_all() override {
    return checked(retry_interrupted([&] { return ::fsync(fd()); }), "make durable");
  }

  Result<FileInfo> info() override {
    struct stat status{};
    BMAD_TRY(checked(::fstat(fd(), &status), "look at"));
    return to_file_info(status);
  }

  [[nodiscard]] int descriptor() const override { return fd(); }

 private:
  [[nodiscard]] int fd() const { return descriptor_.get(); }
  [[nodiscard]] Status checked(int result, std::string_view action) const {
    return result < 0 ? Status(posix_error(errno, action, path_)) : Status();
  }
  [[nodiscard]] Result<std::size_t> written(ssize_t result) const {
    if (result < 0) {
      return posix_error(errno, "write to", path_);
    }
    stamp_moved_time(fd());
    Question::note_change();
    return static_cast<std::size_t>(result);
  }

  Descriptor descriptor_;
  std::string path_;
};

/// Whether a relative path could lead out of the root. The kernel says so too where it has
/// openat2; this check serves the calls that have no such flag.
bool escapes(std::string_view path) {
  if (path.starts_with('/') || path.find('\0') != std::string_view::npos) {
    return true;
  }
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (path.substr(at, end - at) == "..") {
      return true;
    }
    at = end + 1;
  }
  return false;
}

class PosixFileSystem final : public FileSystem {
 public:
  PosixFileSystem(Descriptor root, std::string root_path) : root_path_(std::move(root_path)) {
    use_root(std::move(root));
  }

  Status follow_root() override {
    struct stat now{};
    BMAD_TRY(checked(::stat(root_path_.c_str(), &now), "find the memory's folder", ""));
    const std::lock_guard guard(roots_mutex_);
    if (now.st_dev == root_status_.st_dev && now.st_ino == root_status_.st_ino) {
      return {};
    }
    Descriptor root(::open(root_path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    BMAD_TRY(checked(root.get(), "open the memory's folder", ""));
    use_root(std::move(root));
    return {};
  }

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    // O_NONBLOCK: opening a FIFO that somebody put there must not hang. It means nothing to files.
    constexpr int kCommon = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    switch (mode) {
      case OpenMode::kRead:
        return open_file(path, kCommon | O_RDONLY);
      case OpenMode::kAppend:
        return open_or_create(path, kCommon | O_RDWR | O_APPEND);
      case OpenMode::kUpdate:
        return open_or_create(path, kCommon | O_RDWR);
      case OpenMode::kCreate:
        break;
    }
    // Cut short only once it is known as a file of ours alone.
    BMAD_TRY_ASSIGN(std::unique_ptr<File> file, open_or_create(path, kCommon | O_RDWR));
    BMAD_TRY_ASSIGN(const FileInfo before, file->info());
    BMAD_TRY(before.size == 0 ? Status() : file->truncate(0));
    return file;
  }

  Result<FileInfo> info(const std::string& path) override {
    // One call, where place_of() would cost three: each append looks three times.
    struct stat status{};
    if (escapes(path)) {
      return outside(path);
    }
    BMAD_TRY(
        checked(::fstatat(root_.load(), at(path), &status, AT_SYMLINK_NOFOLLOW), "look at", path));
    return to_file_info(status);
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    const int fd = open_beneath(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR* folder = fd < 0 ? nullptr : ::fdopendir(fd);
    if (folder == nullptr) {
      return posix_error(errno, "list the folder", display_path(path));
    }
    std::vector<std::string> names;
    const auto next = [folder] {
      errno = 0;  // Only its own: memory that was taken another way than first tried leaves ENOMEM.
      return ::readdir(folder);
    };
    while (const dirent* entry = next()) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") {
        names.emplace_back(name);
      }
    }
    const int error_number = errno;
    ::closedir(folder);
    if (error_number != 0) {
      return posix_error(error_number, "list the folder", display_path(path));
    }
    std::ranges::sort(names);
    return names;
  }

  Status make_directory(const std::string& path) override {
    BMAD_TRY_ASSIGN(const Place place, place_of(path));
    BMAD_TRY(checked(::mkdirat(place.fd(), place.name, kFolderMode), "create the folder", path));
    // The umask can only have taken permissions away from us.
    return noted(::fchmodat(place.fd(), place.name, kFolderMode, 0), "set permissions of", path);
  }

  Status rename(const std::string& from, const std::string& to) override {
    BMAD_TRY_ASSIGN(const Place source, place_of(from));
    BMAD_TRY_ASSIGN(const Place target, place_of(to));
    return noted(::renameat(source.fd(), source.name, target.fd(), target.name),
                 "put a file in place of", to);
  }

  Status remove(const std::string& path) override { return unlink(path, 0); }

  Status remove_directory(const std::string& path) override { return unlink(path, AT_REMOVEDIR); }

  Status sync_directory(const std::string& path) override {
    const Descriptor folder(open_beneath(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (folder.get() < 0) {
      return posix_error(errno, "open the folder", display_path(path));
    }
    return checked(retry_interrupted([&] { return ::fsync(folder.get()); }), "make durable", path);
  }

  [[nodiscard]] std::string display_path(const std::string& path) const override {
    return path.empty() ? root_path_ : root_path_ + "/" + path;
  }

 private:
  /// A name and the folder it is in, which was reached without following a link. The calls that
  /// take a path have no flag for that: they would act on another folder's files.
  struct Place {
    [[nodiscard]] int fd() const { return opened.get() >= 0 ? opened.get() : root; }
    Descriptor opened;
    int root;          // Used when the name is in the root itself.
    const char* name;  // Part of the path.
  };

  /// `path` must outlive the place.
  [[nodiscard]] Result<Place> place_of(const std::string& path) const {
    if (escapes(path)) {
      return outside(path);
    }
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) {
      return Place{.opened = Descriptor(-1), .root = root_.load(), .name = at(path)};
    }
    Descriptor folder(
        open_beneath(path.substr(0, slash), O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (folder.get() < 0) {
      return posix_error(errno, "reach the folder of", display_path(path));
    }
    return Place{
        .opened = std::move(folder), .root = root_.load(), .name = path.c_str() + slash + 1};
  }

  /// The path as the *at calls want it: the root itself is ".".
  static const char* at(const std::string& path) { return path.empty() ? "." : path.c_str(); }

  [[nodiscard]] Error outside(const std::string& path) const {
    return posix_error(EINVAL, "use a path that leads out of the memory root", display_path(path));
  }

  /// What is written would change a file outside, which somebody has linked.
  [[nodiscard]] Error second_name(const std::string& path) const {
    return path_error(ErrorCode::E_STORAGE_CORRUPT, display_path(path),
                      fmt::format("has a second name (a hard link), and a write would change both; "
                                  "give it bytes of its own: cp -p F F.new && mv F.new F"),
                      EMLINK);
  }

  [[nodiscard]] Error not_regular(const std::string& path, int error_number) const {
    return path_error(ErrorCode::E_STORAGE_CORRUPT, display_path(path),
                      "is not a regular file; move away what is there", error_number);
  }

  [[nodiscard]] Status checked(int result, std::string_view action, const std::string& path) const {
    return result < 0 ? Status(posix_error(errno, action, display_path(path))) : Status();
  }

  /// The same of what has changed a folder.
  [[nodiscard]] Status noted(int result, std::string_view action, const std::string& path) const {
    Status done = checked(result, action, path);
    Question::note_change();
    return done;
  }

  Status unlink(const std::string& path, int flags) {
    BMAD_TRY_ASSIGN(const Place place, place_of(path));
    return noted(::unlinkat(place.fd(), place.name, flags), "remove", path);
  }

  /// A descriptor, or -1 with errno.
  [[nodiscard]] int open_beneath(const std::string& path, int flags) const {
    assert((flags & O_NOFOLLOW) != 0 && (flags & O_CLOEXEC) != 0);
    if (escapes(path)) {  // RESOLVE_BENEATH lets "a/.." pass, which ends where it began.
      errno = EXDEV;
      return -1;
    }
    open_how how{};
    how.flags = static_cast<__u64>(flags);
    how.mode = (flags & O_CREAT) != 0 ? kFileMode : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const long fd = retry_interrupted(
        [&] { return ::syscall(SYS_openat2, root_.load(), at(path), &how, sizeof how); });
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) {
      return static_cast<int>(fd);
    }
    return open_checked(path, flags);
  }

  /// For kernels without openat2: looks at each folder on the way before it opens.
  [[nodiscard]] int open_checked(const std::string& path, int flags) const {
    assert(!escapes(path));
    for (std::size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      struct stat status{};
      if (::fstatat(root_.load(), path.substr(0, slash).c_str(), &status, AT_SYMLINK_NOFOLLOW) !=
          0) {
        return -1;
      }
      if (!S_ISDIR(status.st_mode)) {
        errno = S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
        return -1;
      }
    }
    return retry_interrupted([&] { return ::openat(root_.load(), at(path), flags, kFileMode); });
  }

  Result<std::unique_ptr<File>> open_file(const std::string& path, int flags) {
    Descriptor descriptor(open_beneath(path, flags));
    if (descriptor.get() < 0) {
      const int error = errno;  // ENXIO: a socket, or a device that isn't there.
      return error == EISDIR || error == ENXIO ? not_regular(path, error)
                                               : posix_error(error, "open", display_path(path));
    }
    struct stat status{};
    BMAD_TRY(checked(::fstat(descriptor.get(), &status), "look at", path));
    if (!S_ISREG(status.st_mode)) {
      return not_regular(path, EINVAL);
    }
    // What is updated in place, as a lock is, is read in parts.
    const bool is_read_whole = (flags & O_ACCMODE) == O_RDONLY || (flags & O_APPEND) != 0;
    if (is_read_whole && is_sparse(status, descriptor.get())) {
      return path_error(ErrorCode::E_SIZE_LIMIT, display_path(path),
                        fmt::format("has {} bytes, of which almost none are on the disk; a "
                                    "sparse file may have {}; bring it back from git or from "
                                    "a backup, or move it away",
                                    status.st_size, kSparseSizeMax));
    }
    if (status.st_nlink > 1 && (flags & O_ACCMODE) != O_RDONLY) {
      return second_name(path);
    }
    return std::make_unique<PosixFile>(std::move(descriptor), display_path(path));
  }

  /// Most files are there already: only when one isn't do we pay for creating it, with permissions
  /// that no umask can change.
  Result<std::unique_ptr<File>> open_or_create(const std::string& path, int flags) {
    Result<std::unique_ptr<File>> existing = open_file(path, flags);
    if (existing || existing.error().os_error != ENOENT) {
      return existing;
    }
    BMAD_TRY_ASSIGN(std::unique_ptr<File> file, open_file(path, flags | O_CREAT));
    BMAD_TRY(noted(::fchmod(file->descriptor(), kFileMode), "set permissions of", path));
    return file;
  }

  void use_root(Descriptor root) {
    assert(root.is_open());
    static_cast<void>(::fstat(root.get(), &root_status_));
    root_ = root.get();
    roots_.push_back(std::move(root));
  }

  std::string root_path_;
  std::atomic<int> root_{-1};
  std::mutex roots_mutex_;  // Guards the two below.
  struct stat root_status_{};
  std::vector<Descriptor> roots_;  // A call may still be at work in an older one.
};

}  // namespace

Result<std::unique_ptr<FileSystem>> open_posix_file_system(const std::string& root) {
  Descriptor descriptor(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) {
    Error error = posix_error(errno, "open the memory root", root);
    if (is_not_found(error)) {
      error.code = ErrorCode::E_SESSION_NOT_FOUND;
      error.message = "no memory here; run `bmad-mem init`";
    }
    return error;
  }
  return std::make_unique<PosixFileSystem>(std::move(descriptor), root);
}

Status make_root_directory(const std::string& root) {
  for (std::size_t slash = root.find('/', 1);; slash = root.find('/', slash + 1)) {
    const std::string folder = root.substr(0, slash);
    if (::mkdir(folder.c_str(), kFolderMode) == 0) {
      const std::size_t parent_end = folder.rfind('/');
      const std::string parent = parent_end == std::string::npos
                                     ? "."
                                     : folder.substr(0, std::max<std::size_t>(parent_end, 1));
      const Descriptor above(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (::chmod(folder.c_str(), kFolderMode) != 0 || above.get() < 0 ||
          ::fsync(above.get()) != 0) {
        return posix_error(errno, "create the folder", folder);
      }
    } else if (errno != EEXIST) {
      return posix_error(errno, "create the folder", folder);
    }
    if (slash == std::string::npos) {
      return {};
    }
  }
}

std::size_t descriptor_limit() {
  rlimit limit{};
  constexpr std::size_t kUsual = 1024;
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<std::size_t>(limit.rlim_cur)
                                                 : kUsual;
}

void ignore_write_signals() {
  for (const int signal_number : {SIGXFSZ, SIGPIPE}) {
    struct sigaction current{};
    if (::sigaction(signal_number, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) {
      current.sa_handler = SIG_IGN;
      ::sigaction(signal_number, &current, nullptr);
    }
  }
}

}  // namespace bmad_mem
