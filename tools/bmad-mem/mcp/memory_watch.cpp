#include "mcp/memory_watch.hpp"

#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "cli/text.hpp"

namespace bmad_mem::cli {
namespace {

/// How often the thread looks whether it shall end, and whether there is a memory by now.
constexpr std::chrono::milliseconds kLookAround{200};

std::set<std::string, std::less<>> known_sessions(const MemoryManager& memory) {
  std::set<std::string, std::less<>> out;
  if (const Result<std::vector<Session>> sessions = memory.list_sessions()) {
    for (const Session& session : *sessions) {
      out.insert(session.session_id);
    }
  }
  return out;
}

}  // namespace

class MemoryWatch::Subscription : public McpSubscription {
 public:
  Subscription(MemoryWatch& watch, std::uint64_t number) : watch_(&watch), number_(number) {}
  ~Subscription() override { watch_->remove(number_); }

 private:
  MemoryWatch* watch_;
  std::uint64_t number_;
};

MemoryWatch::~MemoryWatch() {
  stop_ = true;
  const std::scoped_lock lock(thread_mutex_);
  if (thread_.joinable()) {
    thread_.join();
  }
}

std::unique_ptr<McpSubscription> MemoryWatch::subscribe(std::string uri, McpOnChange on_change) {
  const std::scoped_lock thread_lock(thread_mutex_);
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    number = next_number_++;
    watchers_.emplace(number, Watcher{std::move(uri), std::move(on_change)});
  }
  auto subscription = std::make_unique<Subscription>(*this, number);
  if (!thread_.joinable()) {
    open();  // Here, so that nothing goes untold that is written from now on.
    thread_ = std::thread([this] { run(); });
  }
  return subscription;
}

void MemoryWatch::remove(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  watchers_.erase(number);
}

void MemoryWatch::open() {
  const Result<MemoryManager*> memory = memory_->to_read();
  if (!memory || *memory == nullptr) {
    return;
  }
  Result<EntryWatch> made = EntryWatch::open(**memory);
  if (made) {
    watch_.emplace(*std::move(made));
    seen_sessions_ = known_sessions(**memory);
  } else if (!std::exchange(has_complained_, true)) {
    fmt::print(stderr, "bmad-mem: cannot watch the memory: {}\n",
               printable(made.error().to_string()));
  }
}

void MemoryWatch::run() {
  while (!stop_) {
    if (!watch_) {
      std::this_thread::sleep_for(kLookAround);
      open();
      if (watch_) {
        tell_all();  // What was written before it could be seen.
      }
      continue;
    }
    const Result<std::vector<Entry>> entries = watch_->wait(kLookAround);
    if (!entries) {
      watch_.reset();  // The memory has gone, or can't be read: tried anew in a moment.
    } else if (watch_->take_rewritten()) {
      tell_all();  // Something may have been deleted.
    } else if (!entries->empty()) {
      tell(*entries);
    }
  }
}

void MemoryWatch::tell(const std::vector<Entry>& entries) {
  std::set<std::string, std::less<>> changed;
  for (const Entry& entry : entries) {
    changed.insert("memory://entries/" + entry.id);
    changed.insert("memory://sessions/" + entry.session_id);
    if (seen_sessions_.insert(entry.session_id).second) {
      changed.emplace(kSessionsKey);
    }
  }
  const std::scoped_lock lock(mutex_);
  for (const auto& [number, watcher] : watchers_) {
    if (changed.contains(watcher.uri)) {
      watcher.on_change();
    }
  }
}

void MemoryWatch::tell_all() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [number, watcher] : watchers_) {
    watcher.on_change();
  }
}

}  // namespace bmad_mem::cli
