#include "http/event_hub.hpp"

#include <sodium.h>

#include <chrono>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "http/guard.hpp"
#include "http/router.hpp"

namespace bmad_mem::cli {
namespace {

/// How often the thread looks whether it shall end.
constexpr std::chrono::milliseconds kLookAround{200};
/// How often a memory that has gone is looked for.
constexpr std::chrono::milliseconds kRetry{1000};

std::string new_boot() {
  // Unlike times, not the same after a restart within the same moment.
  return fmt::format("{:08x}", randombytes_random());
}

Result<EventFilter> read_filter(const HttpRequest& request) {
  EventFilter out;
  for (const HttpField& field : request.query) {
    if (field.name == "session_id") {
      out.sessions.push_back(field.value);
    } else if (field.name == "type") {
      BMAD_TRY_ASSIGN(const EntryType type, parse_entry_type(field.value));
      out.types.push_back(type);
    } else {
      return Error{.code = ErrorCode::E_INVALID_QUERY,
                   .message = "there is no such parameter; there are session_id and type",
                   .field = field.name};
    }
  }
  return out;
}

}  // namespace

/// What a connection holds as long as its stream is open.
class EventHub::Stream {
 public:
  Stream(EventHub& hub, std::uint64_t number) : hub_(&hub), number_(number) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { hub_->remove(number_); }

 private:
  EventHub* hub_;
  std::uint64_t number_;
};

EventHub::EventHub(const MemoryManager& memory) : memory_(&memory), ring_(new_boot()) {}

EventHub::~EventHub() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
    stopped_.notify_all();
  }
  const std::scoped_lock lock(thread_mutex_);
  if (thread_.joinable()) {
    thread_.join();
  }
}

HttpResponse EventHub::handle(const HttpRequest& request) {
  if (request.method != "GET") {
    return method_refusal("GET, HEAD");
  }
  Result<EventFilter> filter = read_filter(request);
  if (!filter) {
    return failure_response(filter.error());
  }
  HttpResponse response;
  response.content_type = "text/event-stream; charset=utf-8";
  response.headers = {{"x-accel-buffering", "no"}};
  response.open_events = [this, filter = *std::move(filter),
                          last_id = std::string(request.header("last-event-id"))](
                             std::shared_ptr<HttpEventSink> sink) {
    return listen({.filter = filter, .sink = std::move(sink)}, last_id);
  };
  return response;
}

std::shared_ptr<void> EventHub::listen(Listener listener, const std::string& last_id) {
  start();
  const std::scoped_lock lock(mutex_);
  // An id without an event: who is cut off before the first one can ask for what came after.
  std::string first = "retry: 2000\n";
  std::vector<Event> missed;
  if (last_id.empty()) {
    first += fmt::format("id: {}\n\n", ring_.last_id());
  } else if (std::optional<std::vector<Event>> events = ring_.after(last_id)) {
    first += "\n";
    missed = *std::move(events);
  } else {
    first += "\n" + ring_.reset_text();
  }
  listener.sink->send(std::make_shared<const std::string>(std::move(first)));
  for (const Event& event : missed) {
    if (passes(event, listener.filter)) {
      listener.sink->send(event.text);
    }
  }
  const std::uint64_t number = next_number_++;
  listeners_.emplace(number, std::move(listener));
  return std::make_shared<Stream>(*this, number);
}

void EventHub::remove(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  listeners_.erase(number);
}

void EventHub::start() {
  const std::scoped_lock lock(thread_mutex_);
  if (!thread_.joinable()) {
    open();  // Here, so that nothing goes untold that is written from now on.
    thread_ = std::thread([this] { run(); });
  }
}

void EventHub::open() {
  Result<EntryWatch> made = EntryWatch::open(*memory_);
  if (made) {
    watch_.emplace(*std::move(made));
  }
}

void EventHub::run() {
  while (!stops_) {
    if (!watch_) {
      {
        std::unique_lock lock(mutex_);
        stopped_.wait_for(lock, kRetry, [&] { return stops_.load(); });
      }
      open();
      if (watch_) {
        reset();  // Of what was written before it could be seen.
      }
      continue;
    }
    const Result<std::vector<Entry>> entries = watch_->wait(kLookAround);
    if (!entries) {
      watch_.reset();  // The memory has gone, or can't be read: tried anew in a moment.
      reset();
      continue;
    }
    take(*entries);
    if (watch_->take_rewritten()) {
      reset();  // Something may have been deleted.
    }
  }
}

void EventHub::take(const std::vector<Entry>& entries) {
  const std::scoped_lock lock(mutex_);
  for (const Entry& entry : entries) {
    tell(ring_.add(entry));
  }
}

void EventHub::reset() {
  const std::scoped_lock lock(mutex_);
  tell(ring_.add_reset());
}

void EventHub::tell(const Event& event) {
  for (const auto& [number, listener] : listeners_) {
    if (passes(event, listener.filter)) {
      listener.sink->send(event.text);
    }
  }
}

}  // namespace bmad_mem::cli
