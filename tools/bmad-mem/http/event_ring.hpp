// event_ring.hpp - the last events, so that a page that was cut off for a moment misses nothing.
//
//   numbers   … 17  18  19  20
//                |<-- kept -->|      after(18): 19, 20;  after(3): unknown, too long ago
//
// An event's id is "<boot>-<number>": numbers start anew with each server, and a client that comes
// back with the id of another one is told to load everything anew. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/reports.hpp"

namespace bmad_mem::cli {

/// What somebody wants to hear of. Empty members don't filter.
struct EventFilter {
  std::vector<std::string> sessions;
  std::vector<EntryType> types;
};

/// One event, as it is sent to everyone.
struct Event {
  std::uint64_t number = 0;
  bool is_reset = false;  ///< Passes every filter.
  std::string session_id;
  EntryType type = EntryType::kConversation;
  std::shared_ptr<const std::string> text;
};

bool passes(const Event& event, const EventFilter& filter);

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

}  // namespace bmad_mem::cli
