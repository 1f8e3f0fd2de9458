// group_bounds.hpp - the most that the entries of a segment can count, eight slots at a time,
// before a column is read; and the groups in that order.
//
//   postings   7: 1 mention, impact   12: 2 mentions, impact      of each term
//   groups     0 .. 7            8 .. 15           16 .. 23
//   most       e + w of 7; w(12) e + w of 12       w(12)          summed over the terms
//
// An entry counts by itself (e), by its window (w), and half of itself for the one behind it that
// answers it. Windows reach two slots, so at the ends of a group they count in the next. Of each
// term a group takes the greatest, so no entry in it has more: those groups that can still hold one
// of the best are scored, the most promising first, and of the others no column is ever read.
// This is MAXSCORE (Turtle and Flood 1995) over blocks of slots, since windows overlap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan.hpp"
#include "ranker.hpp"
#include "relevance.hpp"
#include "search/impact.hpp"
#include "session_scores.hpp"

namespace bmad_mem {

/// Eight slots of a session, side by side.
struct SlotGroup {
  static constexpr std::uint32_t kSize = 8;

  std::uint32_t session = 0;  ///< Index in the sessions searched.
  std::uint32_t index = 0;
  std::uint8_t wanted = 0xFF;  ///< A bit a slot.
  std::uint8_t weight = 0;     ///< None weighs more.

  /// In a session of `count` slots.
  [[nodiscard]] SlotRange slots(std::uint32_t count) const {
    return {.begin = index * kSize, .end = std::min(index * kSize + kSize, count)};
  }
};

/// A group and its bound, in eight bytes: there may be hundreds of thousands.
class BoundedGroup {
 public:
  BoundedGroup(float most, std::uint32_t index, std::uint8_t weight)
      : most_(most), place_(index * kWeights + weight) {}

  /// No entry in it is more relevant.
  [[nodiscard]] float most() const { return most_; }
  [[nodiscard]] std::uint32_t index() const { return place_ / kWeights; }
  [[nodiscard]] std::uint8_t weight() const { return static_cast<std::uint8_t>(place_ % kWeights); }

 private:
  static constexpr std::uint32_t kWeights = kWeightCount;

  float most_;
  std::uint32_t place_;
};

/// Threads: safe.
class GroupBounds {
 public:
  GroupBounds(const RankTotals& totals, const RankOptions& options);

  /// Which slots of `group` may be as relevant as `least`, a bit each: closer than the sum of the
  /// group, since an entry counts only where it stands. `bound`: of its session.
  [[nodiscard]] std::uint8_t slots_above(const SlotGroup& group, const SessionTerms& terms,
                                         std::uint64_t length_sum, const RelevanceBound& bound,
                                         double least) const;

  /// Appends the groups that hold a term, of a session of `count` slots. All postings have impacts.
  /// `scratch`: for this alone.
  struct Scratch {
    std::vector<float> most;  // By group + 1; so for the next.
    std::vector<std::uint8_t> weights;
  };
  void add_groups(const SessionTerms& terms, std::uint64_t length_sum, std::uint32_t count,
                  const RelevanceBound& bound, Scratch& scratch,
                  std::vector<BoundedGroup>& out) const;

 private:
  /// What a term counts at most, by what postings and impacts say.
  struct TermBound {
    static constexpr std::uint32_t kMentionsMax = 15;  // As many or more.
    std::array<std::array<float, kImpactLengths.size()>, kMentionsMax + 1> entry{};
    std::array<std::array<float, kImpactMentionsMax + 1>, kImpactShares.size()> window{};

    [[nodiscard]] float entry_of(std::uint32_t frequency, Impact impact) const {
      return entry[std::min(frequency, kMentionsMax)][impact_length_class(impact)];
    }
    [[nodiscard]] float window_of(Impact impact) const {
      return window[impact_share_class(impact)][impact_mentions(impact)];
    }
  };
  [[nodiscard]] double most_of_session(const SessionTerms& terms, std::uint64_t length_sum) const;
  void add_term(const TermBound& bound, const SessionPostings& postings, Scratch& scratch) const;

  const RankTotals& totals_;
  const RankOptions& options_;
  std::vector<TermBound> bounds_;
  float question_factor_;
};

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

/// Groups of slots in the order of how relevant their entries can be at most.
///
///   lists    0.31 0.84 0.02 0.55 ...     a session behind the other, in the order of its slots
///   batches  0.84 0.55 | 0.31 ... |      the next few are sorted when somebody wants them
///
/// A search wants some hundreds of a hundred thousand, so most are never moved nor sorted: a
/// histogram of the bounds tells below which no group is in the next batch.
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
    return !ceiling_ || group.most() < *ceiling_;
  }
  [[nodiscard]] float cutoff(float least) const;
  [[nodiscard]] SlotGroup group_at(const Ready& ready) const;

  std::vector<GroupList> lists_;
  std::vector<Ready> ready_;      // Ascending.
  std::optional<float> ceiling_;  // Those from it on were given out.
  std::size_t batch_ = 128;
};

/// Whether a segment bounds each term of a question in a session.
bool has_impacts(const IndexedSession& session, const SessionTerms& terms);

/// The groups of all sessions that has_impacts() which may hold one of the best. Errors:
/// E_STORAGE_CORRUPT.
Result<GroupQueue> choose_groups(const SearchScope& scope, const Relevance& relevance,
                                 const GroupBounds& bounds);

}  // namespace bmad_mem
