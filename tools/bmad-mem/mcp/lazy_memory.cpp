// lazy_memory.cpp - opens the memory of a server at its first use.
#include "mcp/lazy_memory.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "cli/text.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

namespace {

void warn(const std::string& warning) {
  fmt::print(stderr, "bmad-mem: warning: {}\n", printable(warning));
}

}  // namespace

Result<MemoryManager*> LazyMemory::open(std::string root) {
  BMAD_TRY_ASSIGN(memory_, MemoryManager::open({.root = std::move(root),
                                                .user_root = place_.user_root,
                                                .working_directory = place_.directory,
                                                .agent_id = place_.agent_id,
                                                .state_folder = trusting_folder(),
                                                .writes_as = Origin::kAgent,
                                                .access = place_.access,
                                                .encryption_key = encryption_key_here(),
                                                .watch_folders = true}));
  std::ranges::for_each(memory_->config_warnings(), warn);
  return &*memory_;
}

Result<MemoryManager*> LazyMemory::to_read() {
  const std::scoped_lock lock(mutex_);
  if (memory_) {
    return &*memory_;
  }
  Result<std::string> root = MemoryManager::find_root(place_.explicit_root, place_.environment_root,
                                                      place_.directory, trusting_folder());
  Result<MemoryManager*> memory =
      root ? open(*std::move(root)) : Result<MemoryManager*>(std::move(root).error());
  if (!memory && memory.error().code == ErrorCode::E_SESSION_NOT_FOUND) {
    return static_cast<MemoryManager*>(nullptr);
  }
  return memory;
}

Result<MemoryManager*> LazyMemory::to_write() {
  if (place_.read_only) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message = "this server was started with --read-only and writes nothing"};
  }
  BMAD_TRY_ASSIGN(MemoryManager * memory, to_read());
  if (memory == nullptr) {
    const std::scoped_lock lock(mutex_);
    if (!memory_) {
      std::string root = MemoryManager::root_to_create(place_.explicit_root,
                                                       place_.environment_root, place_.directory);
      BMAD_TRY(MemoryManager::init(root, trusting_folder()));
      BMAD_TRY(open(std::move(root)));
    }
    memory = &*memory_;
  }
  std::call_once(said_, [&] { std::ranges::for_each(rule_warnings(*memory), warn); });
  return memory;
}

Result<Readable> to_read_either(LazyMemory& project, LazyMemory& users) {
  BMAD_TRY_ASSIGN(MemoryManager* const memory, project.to_read());
  if (memory != nullptr || users.place().explicit_root.empty()) {
    return Readable{.memory = memory};
  }
  BMAD_TRY_ASSIGN(MemoryManager* const own, users.to_read());
  return Readable{.memory = own, .of_user = true};
}

Result<MemoryManager*> users_to_write(LazyMemory* users) {
  if (users == nullptr || users->place().explicit_root.empty()) {
    return invalid_query("scope",
                         "there is no folder for the user's own memory, or this server was "
                         "started with --scope");
  }
  return users->to_write();
}

namespace {

/// How often the thread looks whether it shall end, and whether there is a memory by now.
constexpr std::chrono::milliseconds kLookAround{200};

std::set<std::string, std::less<>> known_sessions(const MemoryManager& memory) {
  std::set<std::string, std::less<>> out;
  for (const Session& session : memory.list_sessions().value_or(std::vector<Session>())) {
    out.insert(session.session_id);
  }
  return out;
}

}  // namespace

WatchThread::~WatchThread() {
  stops_ = true;
  const std::scoped_lock lock(mutex_);
  if (thread_.joinable()) {
    thread_.join();
  }
}

void WatchThread::start() {
  const std::scoped_lock lock(mutex_);
  if (!thread_.joinable()) {
    open();  // Here, so that nothing goes untold that is written from now on.
    thread_ = std::thread([this] { run(); });
  }
}

void WatchThread::open() {
  const MemoryManager* const memory = calls_.memory();
  if (memory == nullptr) {
    return;
  }
  Result<EntryWatch> made = EntryWatch::open(*memory);
  if (made) {
    watch_.emplace(*std::move(made));
  } else if (!std::exchange(has_complained_, true)) {
    fmt::print(stderr, "bmad-mem: cannot watch the memory: {}\n",
               printable(made.error().to_string()));
  }
}

void WatchThread::run() {
  while (!stops_) {
    if (!watch_) {
      std::this_thread::sleep_for(kLookAround);
      open();
      if (watch_) {
        calls_.on_unknown();  // What was written before it could be seen.
      }
      continue;
    }
    const Result<std::vector<Entry>> entries = watch_->wait(kLookAround);
    if (!entries) {
      watch_.reset();  // The memory has gone, or can't be read: tried again in a moment.
      calls_.on_unknown();
      continue;
    }
    if (!entries->empty()) {
      calls_.on_entries(*entries);
    }
    if (watch_->take_rewritten()) {
      calls_.on_unknown();  // Something may have been deleted.
    }
  }
}

MemoryWatch::MemoryWatch(LazyMemory& memory)
    : thread_({.memory = [this, &memory]() -> const MemoryManager* {
                 const Result<MemoryManager*> found = memory.to_read();
                 if (!found || *found == nullptr) {
                   return nullptr;
                 }
                 seen_sessions_ = known_sessions(**found);
                 return *found;
               },
               .on_entries = [this](const std::vector<Entry>& entries) { tell(entries); },
               .on_unknown = [this] { tell_all(); }}) {}

McpSubscription MemoryWatch::subscribe(std::string uri, McpOnChange on_change) {
  std::unique_lock lock(mutex_);
  const auto place =
      watchers_.insert(watchers_.end(), Watcher{std::move(uri), std::move(on_change)});
  lock.unlock();
  McpSubscription subscription(static_cast<void*>(this), [this, place](void* /*it*/) {
    const std::scoped_lock guard(mutex_);
    watchers_.erase(place);
  });
  thread_.start();
  return subscription;
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
  for (const Watcher& watcher : watchers_) {
    if (changed.contains(watcher.uri)) {
      watcher.on_change();
    }
  }
}

void MemoryWatch::tell_all() {
  const std::scoped_lock lock(mutex_);
  for (const Watcher& watcher : watchers_) {
    watcher.on_change();
  }
}

}  // namespace bmad_mem::cli
