// parallel.hpp - the same work on many sessions, on as many cores as there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "core/process.hpp"

namespace bmad_mem {

/// Calls `work(i)` for each i below `count`, each once, in no order, and returns when all are done.
/// `work` must not throw and must touch nothing that another i touches. Fewer than kParallelMin
/// are done here: a thread costs 30 us to start.
inline constexpr std::size_t kParallelMin = 8;

template <typename Work>
void for_each_parallel(std::size_t count, const Work& work) {
  constexpr std::size_t kThreadsMax = 8;
  const std::size_t threads =
      count < kParallelMin ? 1 : std::min({core_count(), kThreadsMax, count / 2});
  if (threads < 2) {
    for (std::size_t i = 0; i < count; ++i) {
      work(i);
    }
    return;
  }
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      work(i);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) {
    others.emplace_back(run);
  }
  run();
}

}  // namespace bmad_mem
