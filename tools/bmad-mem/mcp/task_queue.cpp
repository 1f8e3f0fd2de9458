// task_queue.cpp - a few threads that take tasks in the order in which they came.
#include "mcp/task_queue.hpp"

#include <malloc.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

namespace bmad_mem::cli {
namespace {

/// Gives the system back what tasks left free, at most once a second: the heap of this program
/// keeps all of it (see main.cpp), and a question over a million entries leaves 30 MB. It takes
/// some 2 ms.
void give_back_memory() {
#ifdef __GLIBC__
  using Steady = std::chrono::steady_clock;
  static std::atomic<Steady::time_point> next{Steady::time_point::min()};
  Steady::time_point due = next;
  const Steady::time_point now = Steady::now();
  if (now >= due && next.compare_exchange_strong(due, now + std::chrono::seconds(1))) {
    malloc_trim(0);
  }
#endif
}

}  // namespace

TaskQueue::TaskQueue(std::size_t threads, std::size_t size_max) : size_max_(size_max) {
  threads_.reserve(threads);
  while (threads_.size() < threads) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) {
        throw;
      }
      return;  // The process may have no more: these do.
    }
  }
}

TaskQueue::~TaskQueue() {
  {
    const std::scoped_lock lock(mutex_);
    takes_no_more_ = true;
    is_over_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void TaskQueue::when_idle(std::chrono::milliseconds pause, std::function<bool()> work) {
  const std::scoped_lock lock(mutex_);
  idle_task_ = [this, work = std::move(work)] {
    bool is_more = false;
    try {
      is_more = work();
    } catch (const std::exception&) {
      // Nobody waits for it, such as one for which there is no memory: it comes again.
    }
    const std::scoped_lock its_lock(mutex_);
    is_idle_task_due_ = is_idle_task_due_ || is_more;
  };
  pause_ = pause;
}

void TaskQueue::add(Task task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() < size_max_ || takes_no_more_; });
  if (!takes_no_more_) {
    waiting_.push_back(std::move(task));
    changed_.notify_all();
  }
}

void TaskQueue::drop_waiting() {
  std::deque<Task> dropped;  // Goes outside of the lock.
  const std::scoped_lock lock(mutex_);
  takes_no_more_ = true;
  dropped.swap(waiting_);
  changed_.notify_all();
}

void TaskQueue::wait_until_idle(const std::function<bool()>& stop) {
  std::unique_lock lock(mutex_);
  while ((!waiting_.empty() || running_ != 0) && !stop()) {
    changed_.wait_for(lock, std::chrono::milliseconds(20));
  }
}

bool TaskQueue::is_resting() const {
  return is_idle_task_due_ && running_ == 0 && waiting_.empty() && !takes_no_more_;
}

void TaskQueue::work() {
  Lock lock(mutex_);
  const auto is_wanted = [&] { return !waiting_.empty() || is_over_; };
  while (!is_over_) {
    if (!waiting_.empty()) {
      Task task = std::move(waiting_.front());
      waiting_.pop_front();
      is_idle_task_due_ = idle_task_ != nullptr;
      run(std::move(task), lock);
    } else if (!is_resting()) {
      changed_.wait(lock, [&] { return is_wanted() || is_resting(); });
    } else if (const auto end = last_end_ + pause_; !changed_.wait_until(lock, end, is_wanted) &&
                                                    is_resting() && last_end_ + pause_ <= end) {
      is_idle_task_due_ = false;
      run(idle_task_, lock);
    }
  }
}

void TaskQueue::run(Task task, Lock& lock) {
  ++running_;
  lock.unlock();
  task();
  task = nullptr;  // What it holds goes before it counts as done.
  give_back_memory();
  lock.lock();
  --running_;
  last_end_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

}  // namespace bmad_mem::cli
