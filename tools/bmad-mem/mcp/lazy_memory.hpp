// lazy_memory.hpp - the memory behind a server that starts before there is one.
//
// An agent must not lose its server because its project has no memory yet: it is looked for when
// something is asked, and made when something is first written.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bmad_mem/entry_watch.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/trust.hpp"
#include "mcp/mcp_service.hpp"

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

// Tells those who watch a resource that it has changed, by whatever process.
//
// One thread, which the first watcher starts, waits for entries and calls those whose resource they
// belong to. Where it can't tell, it calls them all: to read once too often does no harm.

/// A thread that waits for what any process writes to a memory. Threads: safe.
class WatchThread {
 public:
  struct Calls {                                   ///< Also from start().
    std::function<const MemoryManager*()> memory;  ///< Null as long as there is none.
    std::function<void(const std::vector<Entry>&)> on_entries;
    /// Anything may have changed.
    std::function<void()> on_unknown;
  };

  explicit WatchThread(Calls calls) : calls_(std::move(calls)) {}
  WatchThread(const WatchThread&) = delete;
  WatchThread& operator=(const WatchThread&) = delete;
  /// Ends the thread.
  ~WatchThread();

  /// Begins, unless it has begun: what is written from now on is told.
  void start();

 private:
  void open();
  void run();

  const Calls calls_;
  std::optional<EntryWatch> watch_;  // Of the thread, once it runs.
  bool has_complained_ = false;
  std::atomic<bool> stops_ = false;
  std::mutex mutex_;  // Guards the next one.
  std::thread thread_;
};

/// Threads: safe. Must outlive its subscriptions.
class MemoryWatch {
 public:
  explicit MemoryWatch(LazyMemory& memory);

  /// The key that stands for the list of sessions.
  static constexpr std::string_view kSessionsKey = "memory://sessions";

  /// Calls `on_change` when an entry is written that belongs to the resource `uri`:
  /// memory://sessions when it is the first of its session that this process sees,
  /// memory://sessions/{id} and memory://entries/{id} when it is of that session or has that id.
  McpSubscription subscribe(std::string uri, McpOnChange on_change);

 private:
  struct Watcher {
    std::string uri;
    McpOnChange on_change;
  };

  void tell(const std::vector<Entry>& entries);
  void tell_all();

  std::set<std::string, std::less<>> seen_sessions_;  // Of the thread.
  std::mutex mutex_;  // Guards the next one, and is held while watchers are called.
  std::list<Watcher> watchers_;
  WatchThread thread_;  // Last: it ends before the rest goes.
};

}  // namespace bmad_mem::cli
