// parallel_test.cpp - work on several threads ends as it would on one.
#include "base/parallel.hpp"

#include <atomic>
#include <new>

#include <doctest/doctest.h>

namespace bmad_mem::test::parallel_test {

TEST_CASE("each piece of work is done once") {
  std::atomic<int> sum = 0;
  for_each_parallel(100, [&](std::size_t i) { sum += static_cast<int>(i); });
  CHECK(sum == 4950);
  run_both([&] { sum += 1; }, [&] { sum += 2; });
  CHECK(sum == 4953);
}

TEST_CASE("what a thread throws reaches the one that waits for it") {
  const auto throws = [](std::size_t i) {
    if (i == 50) {
      throw std::bad_alloc();
    }
  };
  CHECK_THROWS_AS(for_each_parallel(100, throws), std::bad_alloc);
  CHECK_THROWS_AS(run_both([] {}, [] { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK_THROWS_AS(run_both([] { throw std::bad_alloc(); }, [] {}), std::bad_alloc);
}

}  // namespace bmad_mem::test::parallel_test
