// memory_watch.hpp - tells those who watch a resource that it has changed, by whatever process.
//
// One thread, which the first watcher starts, waits for entries and calls those whose resource they
// belong to. Where it can't tell, it calls them all: to read once too often does no harm.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
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

/// Threads: safe. Must outlive its subscriptions.
class MemoryWatch {
 public:
  explicit MemoryWatch(LazyMemory& memory) : memory_(&memory) {}
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;
  ~MemoryWatch();

  /// The key that stands for the list of sessions.
  static constexpr std::string_view kSessionsKey = "memory://sessions";

  /// Calls `on_change` when an entry is written that belongs to the resource `uri`:
  /// memory://sessions when it is the first of its session that this process sees,
  /// memory://sessions/{id} and memory://entries/{id} when it is of that session or has that id.
  std::unique_ptr<McpSubscription> subscribe(std::string uri, McpOnChange on_change);

 private:
  class Subscription;
  struct Watcher {
    std::string uri;
    McpOnChange on_change;
  };

  void remove(std::uint64_t number);
  /// Begins to watch, if there is a memory.
  void open();
  void run();
  void tell(const std::vector<Entry>& entries);
  void tell_all();

  LazyMemory* memory_;
  std::mutex thread_mutex_;  // Guards thread_; taken before the other one.
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  // Of the thread, once it runs.
  std::optional<EntryWatch> watch_;
  std::set<std::string, std::less<>> seen_sessions_;
  bool has_complained_ = false;
  std::mutex mutex_;  // Guards the rest, and is held while watchers are called.
  std::map<std::uint64_t, Watcher> watchers_;
  std::uint64_t next_number_ = 0;
};

}  // namespace bmad_mem::cli
