// parallel_test.cpp - work on several threads ends as it would on one.
#include "base/parallel.hpp"

#include <atomic>
#include <new>

#include <doctest/doctest.h>

#include "bmad_mem/question.hpp"

namespace bmad_mem::test::parallel_test {

TEST_CASE("each piece of work is done once") {
  std::atomic<int> sum = 0;
  for_each_parallel(100, [&](std::size_t i) { sum += static_cast<int>(i); });
  CHECK(sum == 4950);
  run_both([&] { sum += 1; }, [&] { sum += 2; });
  CHECK(sum == 4953);
}

TEST_CASE("work within work ends, and its threads stay") {
  std::atomic<int> sum = 0;
  for (int turn = 0; turn < 50; ++turn) {
    for_each_parallel(
        16,
        [&](std::size_t) {
          for_each_parallel(16, [&](std::size_t i) { sum += static_cast<int>(i); }, 3);
        },
        4);
  }
  CHECK(sum == 50 * 16 * 120);
}

TEST_CASE("a thread works for the question of the one that waits for it") {
  const Question question;
  std::atomic<int> strangers = 0;
  for_each_parallel(
      64, [&](std::size_t) { strangers += Question::question() == question.question() ? 0 : 1; },
      4);
  CHECK(strangers == 0);
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
