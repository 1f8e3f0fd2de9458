// retrying_file_system.cpp - reads again when the disk stumbles; errors of the system; memory.
#include <sys/mman.h>

#include <cassert>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "store/posix_file_system.hpp"

namespace bmad_mem {
namespace {

/// What may be gone a moment later. A missing file or a full disk stays as it is.
bool is_passing(const Error& error) {
  return error.os_error == EIO || error.os_error == EAGAIN || error.os_error == ESTALE;
}

/// `call()`, and again as long as it fails in a way that may pass.
template <typename Call>
auto retry(const RetrySleep& sleep, const Call& call) {
  auto result = call();
  for (const std::chrono::milliseconds delay : kRetryDelays) {
    if (result || !is_passing(result.error())) {
      break;
    }
    assert(sleep && "a function that waits is given");
    sleep(delay);
    result = call();
  }
  return result;
}

/// A file that is open for reading.
class RetryingFile final : public File {
 public:
  RetryingFile(std::unique_ptr<File> below, const RetrySleep& sleep)
      : below_(std::move(below)), sleep_(sleep) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    return retry(sleep_, [&] { return below_->read_at(offset, out); });
  }
  Result<FileInfo> info() override {
    return retry(sleep_, [&] { return below_->info(); });
  }
  Result<std::size_t> write(std::string_view bytes) override { return below_->write(bytes); }
  Result<std::size_t> write_at(std::uint64_t offset, std::string_view bytes) override {
    return below_->write_at(offset, bytes);
  }
  Status truncate(std::uint64_t size) override { return below_->truncate(size); }
  Status set_mtime(std::int64_t mtime_ns) override { return below_->set_mtime(mtime_ns); }
  Status sync_data() override { return below_->sync_data(); }
  Status sync_all() override { return below_->sync_all(); }
  [[nodiscard]] int descriptor() const override { return below_->descriptor(); }

 private:
  std::unique_ptr<File> below_;
  const RetrySleep& sleep_;  // The file system's.
};

std::string_view remedy(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "; free some space on the disk, then try again";
    case EDQUOT:
      return "; the disk quota is used up";
    case EFBIG:
      return "; the file would grow beyond the limit (ulimit -f)";
    case EACCES:
    case EPERM:
      return "; check who owns the file and its permissions";
    case EROFS:
      return "; the file system is mounted read-only";
    case EMFILE:
    case ENFILE:
      return "; raise the limit on open files (ulimit -n)";
    case ELOOP:
      return "; symbolic links are not followed inside a memory root, put the file itself there";
    case EIO:
      return "; the disk reported an error, check its health before you go on";
    default:
      return "";
  }
}

bool means_full(int error_number) {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

}  // namespace

void sleep_for(std::chrono::milliseconds delay) { std::this_thread::sleep_for(delay); }

RetryingFileSystem::RetryingFileSystem(std::unique_ptr<FileSystem> below, RetrySleep sleep)
    : FileSystemAround(std::move(below)), sleep_(std::move(sleep)) {}

Result<std::unique_ptr<File>> RetryingFileSystem::open(const std::string& path, OpenMode mode) {
  // The other modes create a file or cut it to nothing.
  if (mode != OpenMode::kRead) {
    return inner().open(path, mode);
  }
  Result<std::unique_ptr<File>> file = retry(sleep_, [&] { return inner().open(path, mode); });
  if (file) {
    file = std::make_unique<RetryingFile>(std::move(*file), sleep_);
  }
  return file;
}

Result<FileInfo> RetryingFileSystem::info(const std::string& path) {
  return retry(sleep_, [&] { return inner().info(path); });
}

Result<std::vector<std::string>> RetryingFileSystem::list(const std::string& path) {
  return retry(sleep_, [&] { return inner().list(path); });
}

Error posix_error(int error_number, std::string_view action, std::string path) {
  // Not formatted: most are of files that may be missing, and nobody reads them.
  std::string message = "cannot ";
  message.append(action).append(": ").append(std::strerror(error_number));
  message.append(remedy(error_number));
  return path_error(means_full(error_number) ? ErrorCode::E_STORAGE_FULL : ErrorCode::E_STORAGE_IO,
                    std::move(path), std::move(message), error_number);
}

void take_memory_now(std::span<std::byte> bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kFew = 8;  // Their faults take no longer than a call.
  constexpr std::size_t kHuge = std::size_t{4} << 20U;
  const std::size_t skipped = -reinterpret_cast<std::uintptr_t>(bytes.data()) % kPage;
  if (bytes.size() >= skipped + kFew * kPage) {
    const std::size_t size = (bytes.size() - skipped) / kPage * kPage;
    if (size >= kHuge) {
      static_cast<void>(::madvise(bytes.data() + skipped, size, MADV_HUGEPAGE));
    }
    static_cast<void>(::madvise(bytes.data() + skipped, size, MADV_POPULATE_WRITE));
  }
#else
  static_cast<void>(bytes);
#endif
}

LazyColumns::LazyColumns(std::size_t size) : size_(size) {
  void* const memory =
      size == 0 ? nullptr
                : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  memory_ = static_cast<char*>(memory);
}

LazyColumns::~LazyColumns() {
  if (memory_ != nullptr) {
    ::munmap(memory_, size_);
  }
}

}  // namespace bmad_mem
