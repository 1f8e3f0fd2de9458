// memory_watch.hpp - tells those who watch a resource that it has changed, by whatever process.
//
// One thread, which the first watcher starts, waits for entries and calls those whose resource they
// belong to. Where it can't tell, it calls them all: to read once too often does no harm.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bmad_mem/entry_watch.hpp"
#include "mcp/lazy_memory.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

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
  std::mutex mutex_;  // Guards the next two, and is held while watchers are called.
  std::map<std::uint64_t, Watcher> watchers_;
  std::uint64_t next_number_ = 0;
  WatchThread thread_;  // Last: it ends before the rest goes.
};

}  // namespace bmad_mem::cli
