// best_found.hpp - the best entries of many sessions, and what another one must reach to be among
// them.
//
// Each session has a heap of its own, the worst in front, so that no thread waits for another; what
// they share is one number: as soon as one heap is full, whatever is worse than its worst is out in
// all sessions.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "bmad_mem/reports.hpp"
#include "query/search.hpp"

namespace bmad_mem {

/// Threads: each session is one thread's at a time; merged() comes last.
class BestFound {
 public:
  /// `limit`: how many to keep; 0: all.
  BestFound(std::size_t session_count, SortOrder sort, std::size_t limit, double min_relevance)
      : sort_(sort), limit_(limit), min_relevance_(min_relevance), found_(session_count) {}

  /// An entry of less relevance can't be among the best any more. It only grows.
  [[nodiscard]] double least() const { return least_.load(std::memory_order_relaxed); }

  /// Keeps `found` if it is among the best of its session.
  void offer(const Found& found);

  /// The best of each session, the best of all first; takes them out.
  std::vector<Found> merged();

 private:
  void raise_least(double relevance);

  SortOrder sort_;
  std::size_t limit_;
  double min_relevance_;
  std::vector<std::vector<Found>> found_;  // By session; heaps.
  std::atomic<double> least_{min_relevance_};
};

}  // namespace bmad_mem
