#include "http/event_ring.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem::cli {
namespace {

/// What an event tells of an entry: enough for a list, the rest can be asked for.
std::string data_of(const Entry& entry) {
  JsonWriter json;
  json.begin_object();
  json.member("session_id", entry.session_id).member("type", entry_type_name(entry.type));
  json.member("id", entry.id).member("timestamp", format_rfc3339(entry.timestamp));
  json.member("who", entry.who).member("headline", entry.headline);
  json.member("pinned", entry.pinned).member("sensitive", entry.sensitive);
  json.end_object();
  return json.take();
}

}  // namespace

bool passes(const Event& event, const EventFilter& filter) {
  const auto has = [](const auto& wanted, const auto& value) {
    return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
  };
  return event.is_reset ||
         (has(filter.sessions, event.session_id) && has(filter.types, event.type));
}

std::string EventRing::id_of(std::uint64_t number) const {
  return fmt::format("{}-{}", boot_, number);
}

std::string EventRing::last_id() const { return id_of(last_); }

std::string EventRing::reset_text() const {
  return fmt::format("id: {}\nevent: reset\ndata: {{}}\n\n", last_id());
}

const Event& EventRing::add(const Entry& entry) {
  ++last_;
  return keep({.number = last_,
               .session_id = entry.session_id,
               .type = entry.type,
               .text = std::make_shared<const std::string>(fmt::format(
                   "id: {}\nevent: memory_update\ndata: {}\n\n", last_id(), data_of(entry)))});
}

const Event& EventRing::add_reset() {
  ++last_;
  return keep({.number = last_,
               .is_reset = true,
               .text = std::make_shared<const std::string>(reset_text())});
}

const Event& EventRing::keep(Event event) {
  size_ += event.text->size();
  events_.push_back(std::move(event));
  while (events_.size() > 1 && (events_.size() > kEventsMax || size_ > kSizeMax)) {
    size_ -= events_.front().text->size();
    events_.pop_front();
  }
  return events_.back();
}

std::optional<std::vector<Event>> EventRing::after(std::string_view id) const {
  if (!id.starts_with(boot_) || id.size() <= boot_.size() || id[boot_.size()] != '-') {
    return std::nullopt;
  }
  id.remove_prefix(boot_.size() + 1);
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(id.data(), id.data() + id.size(), number);
  const std::uint64_t before_first = events_.empty() ? last_ : events_.front().number - 1;
  if (problem != std::errc() || end != id.data() + id.size() || number > last_ ||
      number < before_first) {
    return std::nullopt;
  }
  const auto first = std::ranges::upper_bound(events_, number, {}, &Event::number);
  return std::vector<Event>(first, events_.end());
}

}  // namespace bmad_mem::cli
