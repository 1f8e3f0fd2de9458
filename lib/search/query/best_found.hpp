// best_found.hpp - the best entries of many sessions, and what another one must reach to be among
// them.
//
// Each session has a heap of its own, the worst in front, so that no thread waits for another; what
// they share is one number: as soon as one heap is full, whatever is worse than its worst is out in
// all sessions.
//
//   heap of a session --finish()--> pool --when it has grown--> without what is behind `limit`
//   others
//
// Of ten thousand small sessions no heap is full, and each would keep all that it holds. The same
// entry may be in two sessions and counts once, so only entries of different ids count there: what
// the pool drops comes behind as many as are wanted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "plan.hpp"
#include "ranker.hpp"
#include "search/search.hpp"

namespace bmad_mem {

/// Threads: each session is one thread's at a time; merged() comes last.
class BestFound {
 public:
  /// What the index knows of an entry.
  struct LookUp {
    /// See IndexedSession::id_hash(). An entry without one is never taken for a different one.
    std::function<Result<std::uint32_t>(const Found& found)> id_hash;
    /// See IndexedSession::line_number(). Asked where nothing else tells two entries apart.
    std::function<std::uint32_t(const Found& found)> line;
    /// Whether the session of one comes before that of the other, which is another one.
    std::function<bool(const Found& a, const Found& b)> is_session_before;
  };

  /// `limit`: how many to keep; 0: all.
  BestFound(std::size_t session_count, SortOrder sort, std::size_t limit, double min_relevance,
            LookUp look_up)
      : sort_(sort),
        limit_(limit),
        min_relevance_(min_relevance),
        look_up_(std::move(look_up)),
        found_(session_count) {}

  /// An entry of less relevance can't be among the best any more. It only grows.
  [[nodiscard]] double least() const { return least_.load(std::memory_order_relaxed); }

  /// Keeps `found` if it is among the best of its session.
  void offer(const Found& found);

  /// The same for who offers the best of all sessions first, in one thread: what they hold together
  /// counts as one heap.
  void offer_of_all(const Found& found);

  /// No more entries of this session will be offered.
  void finish(std::size_t session);

  /// The best of each session that are among the best of all, the best first; takes them out.
  std::vector<Found> merged();

 private:
  [[nodiscard]] bool is_before(const Found& a, const Found& b) const;
  void raise_least(double relevance);
  void shorten_pool();

  SortOrder sort_;
  std::size_t limit_;
  double min_relevance_;
  LookUp look_up_;
  std::vector<std::vector<Found>> found_;  // By session; heaps.
  // The most relevant ids of offer_of_all(), by their hashes; the worst first, and the same by id.
  std::set<std::pair<double, std::uint32_t>> top_;
  std::unordered_map<std::uint32_t, double> top_ids_;
  std::atomic<double> least_{min_relevance_};
  std::mutex pool_mutex_;  // Guards what follows.
  std::vector<Found> pool_;
  std::size_t pool_max_ = 0;  // More than these are worth a look at what can go.
};

// Whether what was found is about what was asked, or only the least far away.
//
//   coverage   of the idf mass of the question's words, those that no entry holds included at the
//              largest idf, the share that the entry and its neighbours hold
//   words      how many of the question's words the entry itself holds, work words apart
//   score      4.5 coverage + 3 ln(1 + words) - 0.4 max(0, ln(entries / 400))
//
// Relevance can't tell this: it divides by what the words that are known can reach, so that one
// worthless word is a full answer. See docs/decisions/0063-nearness.md for where the constants come
// from.

class NearnessMeasure {
 public:
  /// Takes what all words of the question weigh, before any is left out, and tells it in `asked`.
  NearnessMeasure(const SearchScope& scope, std::vector<AskedWord>& asked);

  /// Fills in Found::nearness. `scope` may have fewer terms by now, or stand-ins more. Errors: as
  /// IndexedSession::load_slots().
  Status measure(const SearchScope& scope, std::span<Found> found) const;

 private:
  double entries_ = 0;
  double mass_ = 0;
};

}  // namespace bmad_mem
