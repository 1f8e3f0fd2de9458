// parallel.hpp - the same work on many sessions, on as many cores as there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <future>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "base/process.hpp"

namespace bmad_mem {

/// Calls `work(i)` for each i below `count`, each once, in no order, and returns when all are done.
/// `work` must touch nothing that another i touches. Fewer than kParallelMin are done here: a
/// thread costs 30 us to start. `wanted`: this number of threads, where they wait for something
/// else than processors. What `work` throws is thrown here, and some i may be left out then.
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
  const auto run = [&] {
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
  {
    std::vector<std::jthread> others;
    others.reserve(threads - 1);
    try {
      while (others.size() + 1 < threads) {
        others.emplace_back(run);
      }
    } catch (const std::system_error&) {
      // The process is at its limit of threads: those that it has do the work.
    }
    run();
  }
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

/// Calls both, at the same time where there are two cores, and returns when both are done. `one`
/// is called by this thread, and so is `other` where the process is at its limit of threads. What
/// they throw is thrown here; where `one` throws, `other` may be left out.
template <typename One, typename Other>
void run_both(const One& one, const Other& other) {
  std::launch how = std::launch::deferred;
  if (core_count() > 1) {
    how |= std::launch::async;
  }
  std::future<void> rest = std::async(how, other);
  one();
  rest.get();
}

}  // namespace bmad_mem
