// memory_file_system.hpp - a FileSystem that forgets everything at its end: fast, and the model of
// what the real one has to do. tests/store/file_system_contract_test.cpp holds both to it.
//
// Like the real one: a file is a node with an inode number; names point to nodes. An open file
// keeps its node, whatever is renamed or removed meanwhile. Each change moves mtime by 1 ms.
// Unlike it: there are no descriptors, no permissions, and everything is durable at once.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"

namespace bmad_mem::test {

struct MemoryNode;

/// Counts and guards what all nodes share.
struct MemoryDisk {
  std::mutex mutex;
  std::uint64_t last_inode = 1;
  std::int64_t now_ns = 1'768'125'600'000'000'000;
  bool sets_times = false;
};

/// Threads: safe.
class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem();
  ~MemoryFileSystem() override;

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<FileInfo> info(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Status make_directory(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status remove_directory(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  [[nodiscard]] std::string display_path(const std::string& path) const override;

  /// Puts something there that is neither file nor folder, as a symbolic link or a FIFO would be.
  void make_other(const std::string& path);
  /// From now on times of change can be set, as on a real disk.
  void let_times_be_set() { disk_->sets_times = true; }
  /// Makes the folder and those above it.
  void make_folders(const std::string& path);
  /// Replaces the file's bytes in place, as a person with an editor would; creates it if needed.
  void write(const std::string& path, std::string_view bytes);
  /// The file's bytes. Throws std::bad_expected_access when there is no such file.
  [[nodiscard]] std::string read(const std::string& path);

 private:
  struct Place;
  [[nodiscard]] Result<Place> find(const std::string& path, std::string_view action) const;
  Status unlink(const std::string& path, bool is_folder);

  std::shared_ptr<MemoryDisk> disk_;
  std::shared_ptr<MemoryNode> root_;
};

}  // namespace bmad_mem::test
