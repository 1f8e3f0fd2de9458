// lock_info.hpp - what the holder of a lock leaves in .lock.json for people who wait.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/locks.hpp"

namespace bmad_mem {

/// Overwrites the information file with this process's name. Information only: what fails here is
/// nobody's error, and nothing is synced.
void write_lock_info(File& info_file, std::string_view operation, std::string_view agent_id,
                     Timestamp now);

/// "process 4711 (agent \"architect\", add) on host, since 2026-01-11T10:00:00Z", as far as it is
/// known: from `kernel_pid` where the kernel names the holder, else from the information file when
/// that process still runs; otherwise "a process that left no name".
std::string describe_lock_holder(File& info_file, std::optional<int> kernel_pid);

/// The same, taken apart; `session_id` stays empty. What is not known is empty.
LockHolder read_lock_holder(File& info_file, std::optional<int> kernel_pid);

}  // namespace bmad_mem
