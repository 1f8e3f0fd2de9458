// faulty_file_system.hpp - a FileSystem that fails where a test tells it to, and remembers what was
// asked of it.
//
//   MemoryFileSystem disk;
//   FaultyFileSystem files(disk);
//   files.fail({.operation = Operation::kSyncData, .nth = 2, .error_number = EIO});
//   files.shorten({.operation = Operation::kWrite, .path_part = "decisions"}, 17);
//   files.meanwhile({.operation = Operation::kList}, [&] { other_process(); });
//   ... run ...
//   CHECK(files.log() == std::vector<std::string>{"open x", "write x 300", "sync_data x"});
//
// A call that fails has no effect on the file system below. A shortened write writes that much.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"

namespace bmad_mem::test {

enum class Operation : std::uint8_t {
  kOpen,
  kReadAt,
  kWrite,
  kWriteAt,
  kTruncate,
  kSyncData,
  kSyncAll,
  kFileInfo,
  kInfo,
  kList,
  kMakeDirectory,
  kRename,
  kRemove,
  kRemoveDirectory,
  kSyncDirectory,
};

/// "sync_data" for kSyncData: as it stands in the log.
std::string_view operation_name(Operation operation);

struct Fault {
  Operation operation = Operation::kWrite;
  /// Which of the calls that match, counted from 1 and from when the fault was set.
  std::size_t nth = 1;
  int error_number = 5;  ///< EIO.
  bool from_then_on = false;
  /// Only calls on paths that contain this; of a rename, the old or the new one.
  std::string path_part = {};
};

/// The call that stands at `nth`, counted from 0, in `calls`, a log(), as a fault for a run that
/// makes the same calls again.
Fault fault_at(const std::vector<std::string>& calls, std::size_t nth, int error_number = 5);

/// What the file system and its open files share: the faults and the log.
class FaultPlan {
 public:
  struct Verdict {
    std::optional<Error> error;
    std::optional<std::size_t> size;  // Of a write that is to be short.
  };
  /// Logs one call and says what is to become of it. `details` follow the path in the log.
  Verdict judge(Operation operation, const std::string& path, const std::string& details);
  /// As judge(), for a call that can't be shortened.
  Status check(Operation operation, const std::string& path, const std::string& details = {});

 private:
  friend class FaultyFileSystem;
  struct ActiveFault {
    Fault fault;
    std::size_t matched = 0;
    std::optional<std::size_t> short_size;
    std::function<void()> work;  // Instead of a fault.
  };
  std::vector<std::function<void()>> note_call(Operation operation, const std::string& path,
                                               const std::string& details, Verdict& verdict);

  std::mutex mutex_;  // Guards the three below.
  std::vector<ActiveFault> faults_;
  std::vector<std::string> log_;
  std::vector<Operation> operations_;
};

/// Threads: safe when the file system below is.
class FaultyFileSystem final : public FileSystem {
 public:
  /// `below` must outlive it.
  explicit FaultyFileSystem(FileSystem& below);

  /// The matching call fails with the fault's error number.
  void fail(Fault fault);
  /// The matching write (kWrite, kWriteAt) writes only its first `size` bytes and says so.
  void shorten(Fault fault, std::size_t size);
  /// Before the matching call, `work` is done: what another process does at that moment. It may
  /// use the file system below, and heal() this one.
  void meanwhile(Fault at, std::function<void()> work);
  /// Forgets all faults; open files work again.
  void heal();

  /// Every call since the start or clear_log(), failed ones too: "write sessions/x/log 300",
  /// "rename a.tmp a", "sync_directory sessions".
  [[nodiscard]] std::vector<std::string> log() const;
  void clear_log();
  /// How many calls of this kind the log holds.
  [[nodiscard]] std::size_t count(Operation operation) const;

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<FileInfo> info(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Status make_directory(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status remove_directory(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  /// Not logged: what it looks at is not in the root.
  Status follow_root() override { return below_.follow_root(); }
  [[nodiscard]] std::string display_path(const std::string& path) const override;

 private:
  FileSystem& below_;
  std::shared_ptr<FaultPlan> plan_;
};

}  // namespace bmad_mem::test
