// retrying_file_system.hpp - a FileSystem that asks again when the disk stumbles while reading.
//
//   open(kRead), info, list, read_at   EIO, EAGAIN, ESTALE: again after 100, 500 and 2000 ms
//   everything else                    once
//
// A network file system that is being failed over, or a disk that resets its link, answers such a
// call a moment later. Reading twice does no harm. A write may have happened although it failed,
// and a sync that failed answers "done" the second time while the bytes are lost: neither is
// repeated.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file_system.hpp"

namespace bmad_mem {

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
class RetryingFileSystem final : public FileSystem {
 public:
  explicit RetryingFileSystem(std::unique_ptr<FileSystem> below, RetrySleep sleep = sleep_for);

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<FileInfo> info(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Status make_directory(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status remove_directory(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  Status follow_root() override;
  [[nodiscard]] std::string display_path(const std::string& path) const override;

 private:
  std::unique_ptr<FileSystem> below_;
  RetrySleep sleep_;
};

}  // namespace bmad_mem
