// locks.hpp - who writes to a memory at this moment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

class MemoryManager;

/// A lock that is held. What its holder left no word of is empty.
struct LockHolder {
  std::string session_id;  ///< Empty: the lock of the memory itself.
  int pid = 0;
  std::string host;
  std::string agent_id;
  std::string operation;
  std::optional<Timestamp> acquired_at;
};

/// The locks that are held, of the memory first, then by session. Takes none, and waits for none: a
/// write that takes microseconds is hardly ever seen. Empty where the system can't tell. Errors:
/// E_STORAGE_IO.
Result<std::vector<LockHolder>> list_lock_holders(const MemoryManager& memory);

}  // namespace bmad_mem
