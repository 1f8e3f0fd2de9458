#include "store/lock_probe.hpp"

#include <memory>
#include <utility>

#include "kernel_lock.hpp"
#include "lock_info.hpp"

namespace bmad_mem {
namespace {

/// Null when there is no such file.
Result<std::unique_ptr<File>> open_if_there(FileSystem& files, const std::string& path) {
  Result<std::unique_ptr<File>> file = files.open(path, OpenMode::kRead);
  if (!file && is_not_found(file.error())) {
    return std::unique_ptr<File>();
  }
  return file;
}

}  // namespace

Result<std::optional<LockHolder>> probe_lock(FileSystem& files, const std::string& path,
                                             const std::string& info_path) {
  BMAD_TRY_ASSIGN(std::unique_ptr<File> lock_file, open_if_there(files, path));
  if (lock_file == nullptr) {
    return std::optional<LockHolder>();
  }
  const KernelLock lock(std::move(lock_file), files.display_path(path));
  if (!lock.is_held()) {
    return std::optional<LockHolder>();
  }
  BMAD_TRY_ASSIGN(std::unique_ptr<File> info_file, open_if_there(files, info_path));
  return info_file == nullptr ? LockHolder{} : read_lock_holder(*info_file, lock.holder());
}

}  // namespace bmad_mem
