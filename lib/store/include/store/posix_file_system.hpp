// posix_file_system.hpp - the real disk behind the file-system seam, and its errors.
//
// Paths are resolved by the kernel below the root's descriptor with openat2(RESOLVE_BENEATH |
// RESOLVE_NO_SYMLINKS): a link that somebody puts into the store after we looked is refused all the
// same. Where the call is missing (old kernels, some sandboxes), each component is checked first.
// Files are made 0600 and folders 0700, whatever the umask says.
#pragma once

#include <unistd.h>

#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// The folder `root`, which must exist and may be reached through links: they are the user's own.
/// Errors: E_SESSION_NOT_FOUND when there is no such folder, E_STORAGE_IO otherwise.
Result<std::unique_ptr<FileSystem>> open_posix_file_system(const std::string& root);

/// The whole file at `path`, outside of any root: links are followed. Never waits. Errors: as the
/// system's; E_STORAGE_IO for what is no regular file, E_SIZE_LIMIT above `size_max` bytes.
Result<std::string> read_outside_file(const std::string& path, std::uint64_t size_max);
/// A number for what is at `path`: another one once it has changed or something else is in its
/// place; 0 where nothing is.
std::uint64_t outside_file_stamp(const std::string& path);
/// As read_outside_file(), of a file that holds a secret. Errors besides: E_ACCESS_DENIED for one
/// that is somebody else's, or that others may read or write.
Result<std::string> read_private_file(const std::string& path, std::uint64_t size_max);

/// Writes `text` into a new file of mode 600 at `path`, and makes it durable; one that is there
/// stays as it is. Folders above it are made. Errors: E_STORAGE_IO.
Status create_private_file(const std::string& path, std::string_view text);

/// Creates the folder `root` and the missing ones above it (0700), and makes them durable.
Status make_root_directory(const std::string& root);

/// Turns SIGXFSZ and SIGPIPE into errors of the call that caused them: a full disk must not be a
/// death. Leaves handlers alone that a program has set itself.
void ignore_write_signals();

/// How many descriptors this process may have open: the soft limit at this moment.
std::size_t descriptor_limit();

/// `action` is what failed, as an infinitive: "read", "write to", "rename". E_STORAGE_FULL for
/// ENOSPC, EDQUOT and EFBIG, otherwise E_STORAGE_IO.
Error posix_error(int error_number, std::string_view action, std::string path);

// A file descriptor that is closed when it goes.

class Descriptor {
 public:
  /// Takes `value` over; below 0 there is nothing to close.
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { close(); }

  /// Does nothing when it is closed.
  void close() {
    if (value_ >= 0) {
      ::close(std::exchange(value_, -1));
    }
  }
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool is_open() const { return value_ >= 0; }

 private:
  int value_;
};

// A FileSystem that asks again when the disk stumbles while reading.
//
//   open(kRead), info, list, read_at   EIO, EAGAIN, ESTALE: again after 100, 500 and 2000 ms
//   everything else                    once
//
// A network file system that is being failed over, or a disk that resets its link, answers such a
// call a moment later. Reading twice does no harm. A write may have happened although it failed,
// and a sync that failed answers "done" the second time while the bytes are lost: neither is
// repeated.

/// The waits between the attempts (specification, 12.2).
inline constexpr std::array<std::chrono::milliseconds, 3> kRetryDelays = {
    std::chrono::milliseconds(100), std::chrono::milliseconds(500),
    std::chrono::milliseconds(2000)};

/// How it waits; a test puts one in that doesn't. Called by any thread that reads.
using RetrySleep = std::function<void(std::chrono::milliseconds)>;

/// Waits for that long.
void sleep_for(std::chrono::milliseconds delay);

/// Threads: as safe as the file system below. Files must not outlive it. Where nothing fails it
/// costs a virtual call, and a small allocation for each file opened for reading.
class RetryingFileSystem final : public FileSystemAround {
 public:
  explicit RetryingFileSystem(std::unique_ptr<FileSystem> below, RetrySleep sleep = sleep_for);

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<FileInfo> info(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;

 private:
  RetrySleep sleep_;
};

// Memory that is taken where it is touched, or all at once.

/// Takes the memory of `bytes` at once. Else each page of it is a fault when it is touched first,
/// which takes a quarter of a microsecond, and twenty in some virtual machines. For what is about
/// to be filled; what is in it stays. Much of it comes in pages of 2 MB, where there are any. Where
/// the kernel can't (before Linux 5.14), nothing happens.
void take_memory_now(std::span<std::byte> bytes) noexcept;

/// Reserves room for `count` values, which the caller is about to add, and takes its memory now.
template <typename Value>
void reserve_now(std::vector<Value>& values, std::size_t count) {
  values.reserve(count);
  take_memory_now(std::as_writable_bytes(std::span(values.data(), count)));
}

/// Room for columns: zero until they are written, and memory only where they are. From the kernel
/// itself, since a heap writes its zeros: a thousand pages for a question that reads ten of them.
class LazyColumns {
 public:
  explicit LazyColumns(std::size_t size = 0);
  ~LazyColumns();
  LazyColumns(const LazyColumns&) = delete;
  LazyColumns& operator=(const LazyColumns&) = delete;

  /// The next `count` numbers, those of the largest type first.
  template <typename Number>
  Number* take(std::size_t count) {
    assert(used_ + count * sizeof(Number) <= size_ && used_ % alignof(Number) == 0);
    auto* const numbers = reinterpret_cast<Number*>(memory_ + used_);
    used_ += count * sizeof(Number);
    return numbers;
  }

 private:
  char* memory_;
  std::size_t size_;
  std::size_t used_ = 0;
};

}  // namespace bmad_mem
