// event_hub.hpp - GET /memory/events: what is written, told to everyone who listens.
//
//   any process ──log──> EntryWatch ──> EventRing ──┬──> stream
//                         (a thread)                └──> stream …
//
// The thread starts with the first stream. Each event becomes text once, for all of them. The last
// events are kept, so that a page that was cut off for a moment misses nothing:
//
//   numbers   … 17  18  19  20
//                |<-- kept -->|      after(18): 19, 20;  after(3): unknown, too long ago
//
// An event's id is "<boot>-<number>": numbers start anew with each server, and a client that comes
// back with the id of another one is told to load everything anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/entry_watch.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "http/http_message.hpp"
#include "mcp/lazy_memory.hpp"

namespace bmad_mem::cli {

/// What somebody wants to hear of. Empty members don't filter.
struct EventFilter {
  std::vector<std::string> sessions;
  std::vector<EntryType> types;
  std::string query;  ///< Only entries that it finds, see match_entries().
};

/// One event, as it is sent to everyone.
struct Event {
  std::uint64_t number = 0;
  bool is_reset = false;  ///< Passes every filter.
  Entry entry;            ///< Its session, type, id and time.
  std::shared_ptr<const std::string> text;
};

/// Whether the event is of the sessions and types; the query is not looked at.
bool passes(const Event& event, const EventFilter& filter);

/// Threads: one at a time.
class EventRing {
 public:
  static constexpr std::size_t kEventsMax = 4096;
  static constexpr std::size_t kSizeMax = std::size_t{4} << 20U;  ///< Bytes of their texts.

  /// `boot` tells this server from others; it has no '-'.
  explicit EventRing(std::string boot) : boot_(std::move(boot)) {}

  const Event& add(const Entry& entry);
  /// An event that says: what you know may be wrong, load it anew.
  const Event& add_reset();

  /// The events after the one with this id, oldest first; nothing when they are no longer, or not,
  /// known.
  [[nodiscard]] std::optional<std::vector<Event>> after(std::string_view id) const;
  [[nodiscard]] std::optional<std::vector<Event>> after(std::uint64_t number) const;
  /// The id of the newest event; also when there is none.
  [[nodiscard]] std::string last_id() const;
  /// The text of a reset for one client.
  [[nodiscard]] std::string reset_text() const;

 private:
  const Event& keep(Event event);
  [[nodiscard]] std::string id_of(std::uint64_t number) const;

  std::string boot_;
  std::uint64_t last_ = 0;
  std::size_t size_ = 0;  // Of all texts.
  std::deque<Event> events_;
};

/// Threads: safe. Must outlive the streams.
class EventHub {
 public:
  /// match_entries(), or what a test has in its place.
  using Match = std::function<Result<std::vector<bool>>(
      const MemoryManager& memory, std::string_view query, std::span<const Entry> entries)>;

  /// `memory` must outlive it.
  explicit EventHub(const MemoryManager& memory, Match match = match_entries);

  /// Opens a stream; 400 for parameters that make no sense.
  HttpResponse handle(const HttpRequest& request);

 private:
  struct Listener {
    EventFilter filter;
    std::shared_ptr<HttpEventSink> sink;
  };

  std::shared_ptr<void> listen(Listener listener, const std::string& last_id);
  /// Puts them into the ring, or a reset without any, and tells those who listen now; those whose
  /// query has to be asked come last.
  void announce(const std::vector<Entry>& entries);
  [[nodiscard]] std::optional<std::vector<Event>> wanted(const Listener& listener,
                                                         const std::vector<Event>& events) const;

  const MemoryManager* memory_;
  Match match_;
  std::mutex mutex_;  // Guards the next two.
  EventRing ring_;
  std::list<Listener> listeners_;
  WatchThread thread_;  // Last: it ends before the rest goes.
};

}  // namespace bmad_mem::cli
