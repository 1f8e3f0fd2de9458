// file_lock.cpp - one writer at a time: a queue of threads, then the kernel's lock.
#include "store/file_lock.hpp"

#include <sched.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/process.hpp"
#include "kernel_lock.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {

/// What this process knows of one lock file: its descriptors, its queue of threads, and whether the
/// helper thread is waiting in the kernel.
///
/// Life of a turn: wait until `turns` is at one's ticket and nobody holds it, then take the kernel
/// lock; while that lasts, `held` keeps the other threads out.
struct LockEntry {
  enum class Waiter : std::uint8_t { kNone, kWaiting, kGranted, kFailed };

  LockEntry(std::unique_ptr<File> lock_file, std::string path, std::unique_ptr<File> info)
      : kernel(std::move(lock_file), std::move(path)), info_file(std::move(info)) {}

  KernelLock kernel;
  std::unique_ptr<File> info_file;
  FileInfo identity;
  struct {  // What this process last wrote to the information file; guarded by the lock itself.
    std::string operation;
    std::string agent_id;
    Timestamp at{};
    std::int64_t mtime_ns = 0;  // Of the file, just after.
  } note;

  std::mutex mutex;  // Guards what follows; never held during a system call that can wait.
  std::condition_variable changed;
  std::deque<std::uint64_t> queue;
  std::uint64_t next_ticket = 0;
  bool held = false;
  Waiter waiter = Waiter::kNone;
  std::optional<Error> failure;  // Of the helper thread.
  bool abandoned = false;        // Whoever sent the helper thread to wait has given up.
};

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

using EntryKey = std::pair<std::uint64_t, std::uint64_t>;

/// All entries of this process. A forked child starts its own: an open file description that it
/// shares with its parent would let both in.
struct Registry {
  std::mutex mutex;
  std::map<EntryKey, std::weak_ptr<LockEntry>> entries;
  int pid = 0;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

/// The name of the holder is derived: where a backup has linked it, there is a new file.
Result<std::unique_ptr<File>> open_info(FileSystem& files, const std::string& path) {
  Result<std::unique_ptr<File>> file = files.open(path, OpenMode::kUpdate);
  if (!file && file.error().os_error == EMLINK) {
    BMAD_TRY(files.remove(path));
    return files.open(path, OpenMode::kUpdate);
  }
  return file;
}

Result<std::shared_ptr<LockEntry>> find_entry(FileSystem& files, const std::string& path,
                                              const std::string& info_path) {
  BMAD_TRY_ASSIGN(std::unique_ptr<File> lock_file, files.open(path, OpenMode::kUpdate));
  BMAD_TRY_ASSIGN(const FileInfo identity, lock_file->info());
  Registry& all = registry();
  const std::lock_guard guard(all.mutex);
  if (all.pid != process_id()) {
    all.entries.clear();
    all.pid = process_id();
  }
  std::erase_if(all.entries, [](const auto& each) { return each.second.expired(); });
  std::weak_ptr<LockEntry>& slot = all.entries[{identity.device, identity.inode}];
  if (std::shared_ptr<LockEntry> entry = slot.lock()) {
    return entry;
  }
  BMAD_TRY_ASSIGN(std::unique_ptr<File> info_file, open_info(files, info_path));
  auto entry = std::make_shared<LockEntry>(std::move(lock_file), files.display_path(path),
                                           std::move(info_file));
  entry->identity = identity;
  slot = entry;
  return entry;
}

/// Waits until it is this thread's turn among those of the process. False when time ran out.
bool take_turn(LockEntry& entry, std::unique_lock<std::mutex>& lock, SteadyTime deadline) {
  assert(lock.owns_lock());
  const std::uint64_t ticket = entry.next_ticket++;
  entry.queue.push_back(ticket);
  const bool mine = entry.changed.wait_until(
      lock, deadline, [&] { return !entry.held && entry.queue.front() == ticket; });
  std::erase(entry.queue, ticket);
  if (mine) {
    assert(!entry.held);
    entry.held = true;
  } else {
    entry.changed.notify_all();  // The next one may have been waiting for this ticket to go.
  }
  return mine;
}

/// Ends the turn: lets the next thread of the process try.
void give_turn(LockEntry& entry) {
  assert(entry.held);
  entry.held = false;
  entry.changed.notify_all();
}

/// Runs in the helper thread: waits for the kernel lock and hands it over, or gives it straight
/// back when nobody wants it any more.
void wait_in_kernel(const std::shared_ptr<LockEntry>& entry) {
  const Status locked = entry->kernel.lock();
  const std::lock_guard guard(entry->mutex);
  assert(entry->waiter == LockEntry::Waiter::kWaiting);
  if (!locked) {
    entry->failure = locked.error();
    entry->waiter = LockEntry::Waiter::kFailed;
  } else if (entry->abandoned) {
    entry->kernel.unlock();
    entry->waiter = LockEntry::Waiter::kNone;
  } else {
    entry->waiter = LockEntry::Waiter::kGranted;
  }
  entry->changed.notify_all();
}

/// A lock is mostly held for some ten microseconds: look a few times before a thread is started.
Result<bool> try_for_a_moment(LockEntry& entry) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    BMAD_TRY_ASSIGN(const bool locked, entry.kernel.try_lock());
    if (locked) {
      return true;
    }
    ::sched_yield();
  }
  return false;
}

/// Starts the helper thread. A process may have as many threads as it is allowed already.
Status send_waiter(const std::shared_ptr<LockEntry>& entry) {
  try {
    std::thread(wait_in_kernel, entry).detach();
  } catch (const std::system_error& failure) {
    return posix_error(failure.code().value(), "start a thread that waits for the lock", "");
  }
  entry->waiter = LockEntry::Waiter::kWaiting;
  return {};
}

/// Takes the kernel lock in this process's turn. False when time ran out.
Result<bool> take_kernel_lock(const std::shared_ptr<LockEntry>& entry,
                              std::unique_lock<std::mutex>& lock, SteadyTime deadline) {
  using Waiter = LockEntry::Waiter;
  if (entry->waiter == Waiter::kNone) {
    lock.unlock();
    Result<bool> locked = try_for_a_moment(*entry);
    lock.lock();
    if (!locked || *locked || std::chrono::steady_clock::now() >= deadline) {
      return locked;
    }
    BMAD_TRY(send_waiter(entry));
  }
  entry->abandoned = false;
  entry->changed.wait_until(lock, deadline, [&] { return entry->waiter != Waiter::kWaiting; });
  if (entry->waiter == Waiter::kWaiting) {
    entry->abandoned = true;
    return false;
  }
  const bool granted = std::exchange(entry->waiter, Waiter::kNone) == Waiter::kGranted;
  if (!granted) {
    assert(entry->failure);
    return *std::exchange(entry->failure, std::nullopt);
  }
  return true;
}

/// "process 4711 (agent \"architect\", add) on host, since 2026-01-11T10:00:00Z", as far as it is
/// known.
std::string described(const LockHolder& holder) {
  if (holder.host.empty()) {
    return holder.pid == 0 ? "a process that left no name" : fmt::format("process {}", holder.pid);
  }
  const std::string agent =
      holder.agent_id.empty() ? std::string() : fmt::format("agent \"{}\", ", holder.agent_id);
  const std::string since =
      holder.acquired_at ? ", since " + format_rfc3339(*holder.acquired_at) : std::string();
  return fmt::format("process {} ({}{}) on {}{}", holder.pid, agent, holder.operation, holder.host,
                     since);
}

/// Leaves the holder's name for those who wait. Nothing is written when it stands there already,
/// not more than a second old: a second file that changes with every append costs its sync 10 us.
void note_holder(LockEntry& entry, const LockRequest& request, Timestamp now) {
  constexpr std::chrono::seconds kFresh{1};
  auto& note = entry.note;
  const Result<FileInfo> before = entry.info_file->info();
  const bool is_ours = before && before->mtime_ns == note.mtime_ns &&
                       note.operation == request.operation && note.agent_id == request.agent_id;
  if (is_ours && now >= note.at && now - note.at < kFresh) {
    return;
  }
  write_lock_info(*entry.info_file, request.operation, request.agent_id, now);
  const Result<FileInfo> after = entry.info_file->info();
  note = {.operation = std::string(request.operation),
          .agent_id = std::string(request.agent_id),
          .at = now,
          .mtime_ns = after ? after->mtime_ns : 0};
}

}  // namespace

FileLock::Guard::Guard(std::shared_ptr<LockEntry> entry)
    : entry_(std::move(entry)), pid_(process_id()) {}
FileLock::Guard::Guard(Guard&&) noexcept = default;
FileLock::Guard& FileLock::Guard::operator=(Guard&& other) noexcept {
  release();
  entry_ = std::move(other.entry_);
  pid_ = other.pid_;
  return *this;
}
FileLock::Guard::~Guard() { release(); }

File& FileLock::Guard::lock_file() const { return entry_->kernel.file(); }

void FileLock::Guard::release() {
  // A child shares the open file description: unlocking it would take the lock from its parent.
  if (entry_ != nullptr && pid_ == process_id()) {
    const std::lock_guard guard(entry_->mutex);
    entry_->kernel.unlock();
    give_turn(*entry_);
  }
  entry_.reset();
}

FileLock::FileLock(FileSystem& files, const Clock& clock, std::string path, std::string info_path)
    : files_(files), clock_(clock), path_(std::move(path)), info_path_(std::move(info_path)) {}

/// The entry used last time; looked up again when `stale` says that it is for an old file.
Result<std::shared_ptr<LockEntry>> FileLock::current_entry(bool stale) {
  const std::lock_guard guard(mutex_);
  if (entry_ == nullptr || pid_ != process_id() || stale) {
    BMAD_TRY_ASSIGN(entry_, find_entry(files_, path_, info_path_));
    pid_ = process_id();
  }
  return entry_;
}

Error FileLock::timed_out(LockEntry& waited_for, const LockRequest& request) const {
  const LockHolder holder = read_lock_holder(*waited_for.info_file, waited_for.kernel.holder());
  return path_error(ErrorCode::E_LOCK_TIMEOUT, files_.display_path(path_),
                    fmt::format("could not get the lock for \"{}\" within {} ms: it is held "
                                "by {}; try again when it is done, or stop it",
                                request.operation, request.timeout.count(), described(holder)));
}

Result<FileLock::Guard> FileLock::acquire(const LockRequest& request) {
  const SteadyTime deadline = std::chrono::steady_clock::now() + request.timeout;
  for (bool stale = false;; stale = true) {
    BMAD_TRY_ASSIGN(const std::shared_ptr<LockEntry> entry, current_entry(stale));
    {
      std::unique_lock lock(entry->mutex);
      if (!take_turn(*entry, lock, deadline)) {
        lock.unlock();
        return timed_out(*entry, request);
      }
      const Result<bool> locked = take_kernel_lock(entry, lock, deadline);
      if (!locked || !*locked) {
        give_turn(*entry);
        lock.unlock();
        return locked ? timed_out(*entry, request) : locked.error();
      }
    }
    Guard guard(entry);
    // The session may have been archived and restored while we waited: then this is an old file.
    BMAD_TRY_ASSIGN(const auto info, if_there(files_.info(path_)));
    if (info && info->same_file(entry->identity)) {
      note_holder(*entry, request, clock_.now());
      return guard;
    }
  }
}

Result<std::optional<LockHolder>> probe_lock(FileSystem& files, const std::string& path,
                                             const std::string& info_path) {
  BMAD_TRY_ASSIGN(auto lock_file, if_there(files.open(path, OpenMode::kRead)));
  if (!lock_file) {
    return std::optional<LockHolder>();
  }
  const KernelLock lock(*std::move(lock_file), files.display_path(path));
  if (!lock.is_held()) {
    return std::optional<LockHolder>();
  }
  BMAD_TRY_ASSIGN(const auto info_file, if_there(files.open(info_path, OpenMode::kRead)));
  return info_file ? read_lock_holder(**info_file, lock.holder()) : LockHolder{};
}

}  // namespace bmad_mem
