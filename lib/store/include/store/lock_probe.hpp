// lock_probe.hpp - asking who holds a lock, without taking it.
#pragma once

#include <optional>
#include <string>

#include "base/file_system.hpp"
#include "bmad_mem/locks.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Who holds the lock file `path`, as its information file `info_path` says; nothing when nobody
/// does, there is no such file, or the system can't tell. Errors: E_STORAGE_IO.
Result<std::optional<LockHolder>> probe_lock(FileSystem& files, const std::string& path,
                                             const std::string& info_path);

}  // namespace bmad_mem
