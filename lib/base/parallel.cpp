// parallel.cpp - threads that stay, for work that is done at the same time.
#include "base/parallel.hpp"

#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/process.hpp"

namespace bmad_mem {
namespace {

/// Work that a thread waits for.
struct Job {
  const std::function<void()>* work = nullptr;
  std::size_t running = 0;  // Threads that are at it.
};

/// Threads that wait for work until the process ends.
class Workers {
 public:
  void run(std::size_t helpers, const std::function<void()>& work) {
    Job job{.work = &work};
    {
      const std::lock_guard guard(mutex_);
      waiting_.insert(waiting_.end(), helpers, &job);
      start_threads();
    }
    wanted_.notify_all();
    work();
    std::unique_lock guard(mutex_);
    std::erase(waiting_, &job);  // Those that have not begun find nothing left to do.
    done_.wait(guard, [&] { return job.running == 0; });
  }

 private:
  /// As many as are wanted, where the process may have more.
  void start_threads() {
    try {
      for (; threads_ - busy_ < waiting_.size() && threads_ < kThreadsMax; ++threads_) {
        std::thread([this] { wait_for_work(); }).detach();
      }
    } catch (const std::system_error&) {
      // The process is at its limit of threads: those that it has do the work.
    }
  }

  void wait_for_work() {
    std::unique_lock guard(mutex_);
    while (true) {
      wanted_.wait(guard, [&] { return !waiting_.empty(); });
      Job& job = *waiting_.front();
      waiting_.pop_front();
      ++job.running;
      ++busy_;
      guard.unlock();
      (*job.work)();
      guard.lock();
      --busy_;
      --job.running;
      done_.notify_all();
    }
  }

  static constexpr std::size_t kThreadsMax = 64;
  std::mutex mutex_;  // Guards what follows.
  std::condition_variable wanted_;
  std::condition_variable done_;
  std::deque<Job*> waiting_;
  std::size_t threads_ = 0;
  std::size_t busy_ = 0;
};

/// Those of this process: a forked child has none of its parent's threads.
Workers& workers() {
  static std::mutex mutex;
  static Workers* all = nullptr;
  static int owner = 0;
  const std::lock_guard guard(mutex);
  if (all == nullptr || owner != process_id()) {
    all = new Workers;  // Never deleted: its threads wait when the process ends.
    owner = process_id();
  }
  return *all;
}

}  // namespace

void run_at_once(std::size_t threads, const std::function<void()>& work) {
  assert(threads > 1);
  workers().run(threads - 1, work);
}

}  // namespace bmad_mem
