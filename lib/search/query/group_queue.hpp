// group_queue.hpp - groups of slots in the order of how relevant their entries can be at most.
//
//   lists    0.31 0.84 0.02 0.55 ...     a session behind the other, in the order of its slots
//   batches  0.84 0.55 | 0.31 ... |      the next few are sorted when somebody wants them
//
// A search wants some hundreds of a hundred thousand, so most are never moved nor sorted: a
// histogram of the bounds tells below which no group is in the next batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "group_bounds.hpp"
#include "plan.hpp"

namespace bmad_mem {

/// Groups of some sessions.
struct GroupList {
  struct Session {
    std::uint32_t number = 0;  ///< Index in the sessions searched.
    std::size_t begin = 0;     ///< Its first in `groups`.
  };
  std::vector<BoundedGroup> groups;
  std::vector<std::uint8_t> wanted;  ///< By group: a bit a slot. Empty: all are.
  std::vector<Session> sessions;     ///< Of those with groups, in the order of these.
};

class GroupQueue {
 public:
  explicit GroupQueue(std::vector<GroupList> lists) : lists_(std::move(lists)) {}

  /// The most promising that was not given out yet; nothing when none reaches `least`, which never
  /// falls from call to call.
  std::optional<SlotGroup> next(double least);

 private:
  /// A group of the batch at hand.
  struct Ready {
    float most;
    std::uint32_t list;
    std::size_t place;  // In its list.
  };
  void fill(float least);
  void take_from(float from);
  /// Whether it was not given out yet.
  [[nodiscard]] bool is_left(const BoundedGroup& group) const {
    return !has_ceiling_ || group.most() < ceiling_;
  }
  [[nodiscard]] float cutoff(float least) const;
  [[nodiscard]] SlotGroup group_at(const Ready& ready) const;

  std::vector<GroupList> lists_;
  std::vector<Ready> ready_;                                // Ascending.
  float ceiling_ = std::numeric_limits<float>::infinity();  // Those from it on were given out.
  bool has_ceiling_ = false;
  std::size_t batch_ = 128;
};

/// Whether a segment bounds each term of a question in a session.
bool has_impacts(const IndexedSession& session, const SessionTerms& terms);

/// The groups of all sessions that has_impacts() which may hold one of the best. Errors:
/// E_STORAGE_CORRUPT.
Result<GroupQueue> choose_groups(const SearchScope& scope, const Relevance& relevance,
                                 const GroupBounds& bounds);

}  // namespace bmad_mem
