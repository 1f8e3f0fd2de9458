// task_queue.hpp - a few threads that work through tasks in the order in which they came.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bmad_mem::cli {

class TaskQueue {
 public:
  using Task = std::function<void()>;

  /// Starts `threads` threads, or as many as the process may have. At most `size_max` tasks wait.
  /// Throws std::system_error when there can be none.
  TaskQueue(std::size_t threads, std::size_t size_max);
  /// Drops what waits, and waits for what runs.
  ~TaskQueue();

  /// Does `work` whenever something was done and then nothing came for `pause`, and again after
  /// each pause as long as it says that there is more to do. What it throws ends nothing. To be
  /// called before the first add().
  void when_idle(std::chrono::milliseconds pause, std::function<bool()> work);
  /// Waits while the queue is full; drops the task once drop_waiting() was called.
  void add(Task task);
  /// Drops what waits and whatever comes from now on.
  void drop_waiting();
  /// Waits until nothing waits or runs, at most until `stop` says so: it is asked every 20 ms.
  void wait_until_idle(const std::function<bool()>& stop);

 private:
  using Lock = std::unique_lock<std::mutex>;
  void work();
  void run(Task task, Lock& lock);
  /// Whether there is nothing to do but the task for that, once the pause is over.
  [[nodiscard]] bool is_resting() const;

  const std::size_t size_max_;
  std::mutex mutex_;  // Guards what follows.
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::size_t running_ = 0;
  bool takes_no_more_ = false;
  bool is_over_ = false;
  Task idle_task_;
  std::chrono::milliseconds pause_{};
  bool is_idle_task_due_ = false;
  std::chrono::steady_clock::time_point last_end_;
  std::vector<std::thread> threads_;
};

}  // namespace bmad_mem::cli
