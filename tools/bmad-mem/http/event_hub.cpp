// event_hub.cpp - keeps a ring of events and sends them to the open connections.
#include "http/event_hub.hpp"

#include <sodium.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "http/endpoint.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// How long what a client missed is matched, before it has to look anew.
constexpr std::chrono::milliseconds kCatchUpTime{2000};

/// Sessions and types that one listener names; a request has room for fewer.
constexpr std::int64_t kEventFiltersMax = 1'000'000;

std::string new_boot() {
  // Unlike times, not the same after a restart within the same moment.
  return fmt::format("{:08x}", randombytes_random());
}

constexpr JsonParameter kQuery[] = {
    {.name = "q"},
    {.name = "session_id", .kind = ArgumentKind::kTexts, .max = kEventFiltersMax},
    {.name = "type", .kind = ArgumentKind::kTypes, .max = kEventFiltersMax}};

Result<EventFilter> read_filter(const HttpRequest& request) {
  EndpointCall call(request, {});
  BMAD_TRY(call.read({.query = kQuery}));
  return EventFilter{
      .sessions = call.texts("session_id"), .types = call.types("type"), .query = call.text("q")};
}

/// What an event tells of an entry: enough for a list, the rest can be asked for.
std::string data_of(const Entry& entry) { return json_object(shaped(shape::event_entry, entry)); }

}  // namespace

bool passes(const Event& event, const EventFilter& filter) {
  const auto has = [](const auto& wanted, const auto& value) {
    return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
  };
  return event.is_reset ||
         (has(filter.sessions, event.entry.session_id) && has(filter.types, event.entry.type));
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
               .entry = {.session_id = entry.session_id,
                         .type = entry.type,
                         .id = entry.id,
                         .timestamp = entry.timestamp},
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
  const auto number = number_in<std::uint64_t>(id);
  return number ? after(*number) : std::nullopt;
}

std::optional<std::vector<Event>> EventRing::after(std::uint64_t number) const {
  const std::uint64_t before_first = events_.empty() ? last_ : events_.front().number - 1;
  if (number > last_ || number < before_first) {
    return std::nullopt;
  }
  const auto first = std::ranges::upper_bound(events_, number, {}, &Event::number);
  return std::vector<Event>(first, events_.end());
}

EventHub::EventHub(const MemoryManager& memory, Match match)
    : memory_(&memory),
      match_(std::move(match)),
      ring_(new_boot()),
      thread_({.memory = [this] { return memory_; },
               .on_entries = [this](const std::vector<Entry>& entries) { announce(entries); },
               .on_unknown = [this] { announce({}); }}) {}

HttpResponse EventHub::handle(const HttpRequest& request) {
  if (request.method != "GET") {
    return method_refusal("GET, HEAD");
  }
  Result<EventFilter> filter = read_filter(request);
  if (filter && !filter->query.empty()) {
    if (Result<std::vector<bool>> read = match_(*memory_, filter->query, {}); !read) {
      Error error = std::move(read).error();
      error.field = error.field == "text" ? "q" : error.field;
      filter = std::move(error);
    }
  }
  if (!filter) {
    return failure_response(filter.error());
  }
  return {.content_type = "text/event-stream; charset=utf-8",
          .headers = {{"x-accel-buffering", "no"}},
          .open_events = [this, filter = *std::move(filter),
                          last_id = std::string(request.header("last-event-id"))](
                             std::shared_ptr<HttpEventSink> sink) {
            return listen({.filter = filter, .sink = std::move(sink)}, last_id);
          }};
}

std::shared_ptr<void> EventHub::listen(Listener listener, const std::string& last_id) {
  thread_.start();
  std::unique_lock lock(mutex_);
  // An id without an event: who is cut off before the first one can ask for what came after.
  std::string first = "retry: 2000\n";
  std::optional<std::vector<Event>> missed = std::vector<Event>();
  if (last_id.empty()) {
    first += fmt::format("id: {}\n\n", ring_.last_id());
  } else {
    missed = ring_.after(last_id);
    first += missed ? "\n" : "\n" + ring_.reset_text();
  }
  listener.sink->send(std::make_shared<const std::string>(std::move(first)));
  const auto deadline = std::chrono::steady_clock::now() + kCatchUpTime;
  while (missed && !missed->empty()) {
    lock.unlock();  // A slow query must hold up nobody else. What comes meanwhile follows.
    const std::optional<std::vector<Event>> events =
        std::chrono::steady_clock::now() < deadline ? wanted(listener, *missed) : std::nullopt;
    for (const Event& event : events.value_or(std::vector<Event>())) {
      listener.sink->send(event.text);
    }
    lock.lock();
    missed = events ? ring_.after(missed->back().number) : std::nullopt;
    if (!missed) {  // Which of them match is not known: the client looks anew.
      listener.sink->send(std::make_shared<const std::string>(ring_.reset_text()));
    }
  }
  const auto place = listeners_.insert(listeners_.end(), std::move(listener));
  // The connection holds this as long as its stream is open.
  return {static_cast<void*>(this), [this, place](void* /*it*/) {
            const std::scoped_lock guard(mutex_);
            listeners_.erase(place);
          }};
}

void EventHub::announce(const std::vector<Entry>& entries) {
  std::vector<Event> events;
  std::vector<Listener> listeners;
  {
    const std::scoped_lock lock(mutex_);
    for (const Entry& entry : entries) {
      events.push_back(ring_.add(entry));
    }
    if (entries.empty()) {
      events.push_back(ring_.add_reset());
    }
    // Who comes later has the events from the ring.
    listeners.assign(listeners_.begin(), listeners_.end());
  }
  std::ranges::stable_partition(
      listeners, [](const Listener& listener) { return listener.filter.query.empty(); });
  // Without mutex_: a slow query of one listener must not stop those who come and go.
  for (const Listener& listener : listeners) {
    const std::optional<std::vector<Event>> found = wanted(listener, events);
    for (const Event& event : found.value_or(std::vector<Event>())) {
      listener.sink->send(event.text);
    }
    if (!found) {  // Which of them match is not known: the client looks anew.
      const std::scoped_lock lock(mutex_);
      listener.sink->send(std::make_shared<const std::string>(ring_.reset_text()));
    }
  }
}

/// The events among `events` that the listener wants to hear of; nothing when that can't be found
/// out. Without mutex_, since it may take a while.
std::optional<std::vector<Event>> EventHub::wanted(const Listener& listener,
                                                   const std::vector<Event>& events) const {
  std::vector<Event> out;
  std::vector<Entry> entries;
  for (const Event& event : events) {
    if (passes(event, listener.filter)) {
      out.push_back(event);
      entries.push_back(event.entry);
    }
  }
  if (listener.filter.query.empty() ||
      std::ranges::all_of(out, [](const Event& event) { return event.is_reset; })) {
    return out;
  }
  const Result<std::vector<bool>> matched = match_(*memory_, listener.filter.query, entries);
  if (!matched) {
    return std::nullopt;
  }
  std::size_t i = 0;
  std::erase_if(out, [&](const Event& event) {
    const std::size_t at = i++;
    return !event.is_reset && !(*matched)[at];
  });
  return out;
}

}  // namespace bmad_mem::cli
