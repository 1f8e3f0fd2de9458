// unpacked_cache.hpp - what was unpacked lately, for the next question, and how much may be.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_system.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// How much may be unpacked of all files of a root beyond what is likely: text shrinks to a third
/// or a sixth, JSON to a tenth, and what was made to do harm to a thousandth. What is likely is
/// free. Once limit() was called, everything counts. Threads: safe.
class UnpackBudget {
 public:
  static constexpr std::uint64_t kLikelyRatio = 16;
  /// In all files together, within a question or some seconds.
  static constexpr std::uint64_t kExcessMax = std::uint64_t{32} << 20U;
  /// For a process that must be quick: words that all differ are indexed at 2.5 MB a second.
  static constexpr std::uint64_t kQuickMax = std::uint64_t{512} << 10U;

  /// To how much `packed` bytes may unpack now, up to `size_max`.
  std::uint64_t allowed(std::uint64_t packed, std::uint64_t size_max);
  void spend(std::uint64_t packed, std::uint64_t unpacked);

  /// From now on there are `size_max` bytes, and never others.
  void limit(std::uint64_t size_max);
  [[nodiscard]] bool is_limited() const { return max_ != kExcessMax; }
  /// Takes `size` bytes before `packed` is unpacked to them. Of a limited budget `packed` itself
  /// was taken before it was read. Errors: E_SIZE_LIMIT, as defer() has it, or with the os_error
  /// EFBIG when a limited one never has as many.
  Status take(std::uint64_t size, std::uint64_t packed);
  /// Says of `error`, which is E_SIZE_LIMIT, that it is one of the moment.
  static void defer(Error& error);

 private:
  void renew();  // The caller holds the mutex.

  std::mutex mutex_;  // Guards what follows.
  std::uint64_t spent_ = 0;
  std::uint64_t max_ = kExcessMax;
  std::chrono::steady_clock::time_point since_{};
};

/// What `unpack(packed, size_max)` returns, within `budget`, which may be null.
/// An E_SIZE_LIMIT that would be none at another time has the os_error EAGAIN. A limited budget has
/// to have all of `size_max`.
template <typename Unpack>
auto unpack_within(UnpackBudget* budget, std::string_view packed, std::uint64_t size_max,
                   const Unpack& unpack) {
  if (budget == nullptr) {
    return unpack(packed, size_max);
  }
  if (budget->is_limited()) {
    const Status taken = budget->take(size_max, packed.size());
    return taken ? unpack(packed, size_max) : decltype(unpack(packed, size_max))(taken.error());
  }
  const std::uint64_t allowed = budget->allowed(packed.size(), size_max);
  auto unpacked = unpack(packed, allowed);
  budget->spend(packed.size(), unpacked ? unpacked->size() : allowed);
  if (!unpacked && unpacked.error().code == ErrorCode::E_SIZE_LIMIT && allowed < size_max) {
    UnpackBudget::defer(unpacked.error());
  }
  return unpacked;
}

/// Parts of packed files, each with the number of its owner. Threads: safe.
class UnpackedCache {
 public:
  /// A number that no other owner has.
  std::uint64_t new_owner();
  /// Null when it is not there, or no longer. `Part` is as it was given to add().
  template <typename Part>
  std::shared_ptr<Part> find(std::uint64_t owner, std::size_t part) {
    return std::static_pointer_cast<Part>(find_any(owner, part));
  }
  /// Keeps `what`, which has `size` bytes, and of the others those asked for last, until they have
  /// `size_max` bytes; the latest stays whatever its size.
  void add(std::uint64_t owner, std::size_t part, std::shared_ptr<void> what, std::uint64_t size,
           std::uint64_t size_max);
  /// Frees all that is the owner's, unless somebody still uses it.
  void forget(std::uint64_t owner);
  /// Bytes of all that is kept.
  std::uint64_t size();

 private:
  struct Item {
    std::shared_ptr<void> what;
    std::uint64_t size = 0;
    std::uint64_t used = 0;  ///< The greater, the later it was asked for.
  };

  std::shared_ptr<void> find_any(std::uint64_t owner, std::size_t part);

  std::mutex mutex_;                                             // Guards what follows.
  std::map<std::pair<std::uint64_t, std::size_t>, Item> items_;  // By owner and part.
  std::uint64_t size_ = 0;
  std::uint64_t uses_ = 0;
  std::uint64_t owners_ = 0;
};

// Notes about packed files, for other processes: one that could not be
// read is not unpacked by each of them.
//
//   {"key":"9f86d081884c7d65","file":"archive/a.tar.gz","code":"E_SIZE_LIMIT","message":"…"}
//
// The key is of the very file, its inode and time of change, and of the note. Who makes a
// clone gives its files others, so a line that comes with one says nothing.

using RefusedFiles = std::map<std::string, Error, std::less<>>;  ///< By refused_key().

inline constexpr std::uint64_t kRefusedSizeMax = 1U << 20U;

/// A note about a packed file.
enum class ArchiveNote : std::uint8_t {
  kRefused = 1,    ///< To be raised when something is read that was refused before.
  kNotQuick = 64,  ///< It is more than a quick process unpacks, see UnpackBudget::kQuickMax.
  kOurs,           ///< It was written here.
};

std::string refused_key(const std::string& path, const FileInfo& file,
                        ArchiveNote note = ArchiveNote::kRefused);

/// What was noted; nothing where it can't be read.
RefusedFiles read_refused(FileSystem& files);

/// Notes that of `file` at `path`, if it is there, with the reason; kOurs only where a quick
/// process may take it for too much. Where that fails, each process finds out.
void remember_archive(FileSystem& files, const std::string& path, const Result<FileInfo>& file,
                      ArchiveNote note, const Error& error = {});

}  // namespace bmad_mem
