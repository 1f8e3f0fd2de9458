// parallel.hpp - the same work on many sessions, on as many cores as there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>

#include "base/process.hpp"
#include "bmad_mem/question.hpp"

namespace bmad_mem {

/// Calls `work` in up to `threads` threads, this one among them, and returns when all that began it
/// are done. They stay for the next who asks. It must not throw.
void run_at_once(std::size_t threads, const std::function<void()>& work);

/// Calls `work(i)` for each i below `count`, each once, in no order, and returns when all are done.
/// `work` must touch nothing that another i touches. Fewer than kParallelMin are done here: a
/// thread costs 30 us to start, and a few to wake. `wanted`: this number of threads, where they
/// wait for something else than processors. What `work` throws is thrown here, and some i may be
/// left out then.
inline constexpr std::size_t kParallelMin = 8;

template <typename Work>
void for_each_parallel(std::size_t count, const Work& work,
                       std::optional<std::size_t> wanted = std::nullopt) {
  constexpr std::size_t kThreadsMax = 8;
  const std::size_t threads =
      wanted.value_or(count < kParallelMin ? 1 : std::min({core_count(), kThreadsMax, count / 2}));
  if (threads < 2) {
    for (std::size_t i = 0; i < count; ++i) {
      work(i);
    }
    return;
  }
  std::atomic<std::size_t> next{0};
  std::atomic<bool> has_thrown{false};
  std::exception_ptr thrown;
  const auto run = [&, question = Question::question()] {
    const Question part(question);
    try {
      for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
        work(i);
      }
    } catch (...) {
      if (!has_thrown.exchange(true)) {
        thrown = std::current_exception();
      }
    }
  };
  run_at_once(threads, run);
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

/// Calls both, at the same time where there are two cores, and returns when both are done. What
/// they throw is thrown here; where one throws, the other may be left out.
template <typename One, typename Other>
void run_both(const One& one, const Other& other) {
  for_each_parallel(
      2, [&](std::size_t i) { i == 0 ? one() : other(); }, std::min<std::size_t>(2, core_count()));
}

}  // namespace bmad_mem
