#include "mcp/task_queue.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <new>
#include <thread>

#include <doctest/doctest.h>

using bmad_mem::cli::TaskQueue;

namespace bmad_mem::test::task_queue_test {

TEST_CASE("every task runs once") {
  std::atomic<int> runs = 0;
  TaskQueue queue(4, 8);
  for (int i = 0; i < 1000; ++i) {
    queue.add([&] { ++runs; });
  }
  queue.wait_until_idle([] { return false; });
  CHECK(runs == 1000);
}

TEST_CASE("once it is idle it does what can wait, once after each stretch of work") {
  constexpr std::chrono::milliseconds kPause{20};
  std::mutex mutex;
  std::condition_variable changed;
  int rests = 0;
  int runs = 0;
  TaskQueue queue(4, 8);
  queue.when_idle(kPause, [&]() -> bool {
    const std::scoped_lock lock(mutex);
    CHECK(runs == rests + 1);
    ++rests;
    changed.notify_all();
    throw std::bad_alloc();  // It comes again.
  });
  std::this_thread::sleep_for(2 * kPause);
  std::unique_lock lock(mutex);
  CHECK(rests == 0);  // Nothing was done yet.
  const auto add_one = [&] {
    lock.unlock();
    queue.add([&] {
      const std::scoped_lock guard(mutex);
      ++runs;
    });
    lock.lock();
  };
  add_one();
  changed.wait(lock, [&] { return rests == 1; });
  lock.unlock();
  std::this_thread::sleep_for(3 * kPause);
  lock.lock();
  CHECK(rests == 1);
  add_one();
  changed.wait(lock, [&] { return rests == 2; });
}

TEST_CASE("the idle task goes on as long as it says that there is more") {
  std::mutex mutex;
  std::condition_variable changed;
  int rests = 0;
  TaskQueue queue(2, 8);
  queue.when_idle(std::chrono::milliseconds(5), [&] {
    const std::scoped_lock lock(mutex);
    changed.notify_all();
    return ++rests < 3;
  });
  queue.add([] {});
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return rests == 3; });
  lock.unlock();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  lock.lock();
  CHECK(rests == 3);
}

TEST_CASE("what waits can be dropped while something runs") {
  std::atomic<int> runs = 0;
  std::promise<void> started;
  std::promise<void> release;
  TaskQueue queue(1, 8);
  queue.add([&] {
    started.set_value();
    release.get_future().wait();
    ++runs;
  });
  started.get_future().wait();
  queue.add([&] { ++runs; });
  queue.drop_waiting();
  queue.add([&] { ++runs; });  // Comes too late.
  release.set_value();
  queue.wait_until_idle([] { return false; });
  CHECK(runs == 1);
}

}  // namespace bmad_mem::test::task_queue_test
