// parallel.hpp - the same work on many sessions, on as many cores as there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "base/process.hpp"

namespace bmad_mem {

/// What other threads throw, for the one that waits for them.
class FirstException {
 public:
  /// Calls `work`, and keeps what it throws if it is the first.
  template <typename Work>
  void run(const Work& work) {
    try {
      work();
    } catch (...) {
      if (!is_set_.exchange(true)) {
        exception_ = std::current_exception();
      }
    }
  }
  /// Once the threads have ended.
  void rethrow() const {
    if (exception_) {
      std::rethrow_exception(exception_);
    }
  }

 private:
  std::atomic<bool> is_set_{false};
  std::exception_ptr exception_;
};

/// A thread that runs `work`; none where the process may have no more of them: then `work` is left
/// to the caller.
template <typename Work>
std::optional<std::jthread> try_thread(const Work& work) {
  try {
    return std::jthread(work);
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

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
  FirstException thrown;
  const auto run = [&] {
    thrown.run([&] {
      for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
        work(i);
      }
    });
  };
  {
    std::vector<std::optional<std::jthread>> others(threads - 1);
    for (std::optional<std::jthread>& other : others) {
      other = try_thread(run);
    }
    run();
  }
  thrown.rethrow();
}

/// Calls both, at the same time where there are two cores, and returns when both are done.
template <typename One, typename Other>
void run_both(const One& one, const Other& other) {
  FirstException thrown;
  {
    std::optional<std::jthread> thread;
    if (core_count() > 1) {
      thread = try_thread([&] { thrown.run(other); });
    }
    thrown.run(one);
    if (!thread) {
      thrown.run(other);
    }
  }
  thrown.rethrow();
}

}  // namespace bmad_mem
