// event_hub.hpp - GET /memory/events: what is written, told to everyone who listens.
//
//   any process ──log──> EntryWatch ──> EventRing ──┬──> stream
//                         (a thread)                └──> stream …
//
// The thread starts with the first stream. Each event becomes text once, for all of them.
// Threads: safe. Must outlive the streams.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "bmad_mem/entry_watch.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "http/event_ring.hpp"
#include "http/http_message.hpp"

namespace bmad_mem::cli {

class EventHub {
 public:
  /// `memory` must outlive it.
  explicit EventHub(const MemoryManager& memory);
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;
  ~EventHub();

  /// Opens a stream; 400 for parameters that make no sense.
  HttpResponse handle(const HttpRequest& request);

 private:
  class Stream;
  struct Listener {
    EventFilter filter;
    std::shared_ptr<HttpEventSink> sink;
  };

  std::shared_ptr<void> listen(Listener listener, const std::string& last_id);
  void remove(std::uint64_t number);
  void start();
  void open();
  void run();
  void take(const std::vector<Entry>& entries);
  void reset();
  /// With mutex_ held.
  void tell(const Event& event);

  const MemoryManager* memory_;
  std::mutex thread_mutex_;  // Guards thread_; taken before the other one.
  std::thread thread_;
  std::optional<EntryWatch> watch_;  // Of the thread, once it runs.
  std::atomic<bool> stops_ = false;
  std::mutex mutex_;  // Guards the rest.
  std::condition_variable stopped_;
  EventRing ring_;
  std::map<std::uint64_t, Listener> listeners_;
  std::uint64_t next_number_ = 0;
};

}  // namespace bmad_mem::cli
