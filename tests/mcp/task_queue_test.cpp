#include "mcp/task_queue.hpp"

#include <atomic>
#include <future>

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
