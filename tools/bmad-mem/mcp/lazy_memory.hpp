// lazy_memory.hpp - the memory behind a server that starts before there is one.
//
// An agent must not lose its server because its project has no memory yet: it is looked for when
// something is asked, and made when something is first written.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/trust.hpp"

namespace bmad_mem::cli {

/// Where the memory is looked for, as MemoryManager::find_root() has it.
struct MemoryPlace {
  std::string explicit_root = {};
  std::string environment_root = {};
  std::string directory = {};  ///< Of the project.
  std::string user_root = {};  ///< Of the user's own memory, see OpenOptions; empty: none.
  std::string agent_id = {};
  std::optional<MemoryAccess> access = {};
  bool read_only = false;  ///< Never make one.
};

/// Threads: safe.
class LazyMemory {
 public:
  explicit LazyMemory(MemoryPlace place) : place_(std::move(place)) {}

  /// Null when there is none yet. Errors: those of MemoryManager::open(), but for that one.
  Result<MemoryManager*> to_read();
  /// Makes one when there is none. Errors: as to_read(); E_ACCESS_DENIED when it may not.
  Result<MemoryManager*> to_write();

  [[nodiscard]] const MemoryPlace& place() const { return place_; }

 private:
  Result<MemoryManager*> open(std::string root);
  Result<MemoryManager*> made();

  const MemoryPlace place_;
  std::mutex mutex_;                     // Guards the next one until it has a value.
  std::optional<MemoryManager> memory_;  // Stays where it is once it is there.
  std::once_flag said_;                  // What is wrong with the rules, at the first write.
};

/// A memory to answer from; null: there is none yet.
struct Readable {
  MemoryManager* memory = nullptr;
  bool of_user = false;  ///< It is the user's own, since the project has none.
};

/// What is told where `project` may have no memory yet: the user's own is told all the same.
/// Errors: as LazyMemory::to_read().
Result<Readable> to_read_either(LazyMemory& project, LazyMemory& users);

/// The user's own memory, for a call with the scope "user". Errors: as LazyMemory::to_write();
/// E_INVALID_QUERY with field "scope" when there is no folder for it.
Result<MemoryManager*> users_to_write(LazyMemory* users);

}  // namespace bmad_mem::cli
