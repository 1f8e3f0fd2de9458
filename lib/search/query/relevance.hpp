// relevance.hpp - from the text score of an entry to its relevance, and the most it can be.
//
//   factors   text (0.75 + 0.25 time) (0.80 + 0.20 importance) (0.95 + 0.05 access)
//   sum       w1 text + w2 time + w3 importance + w4 access     specification 5.3
//   bound     scale[class of the entry] text + beside[class]    a table a session, 128 classes
//
// What an entry's time, importance and access can do is known from its flags alone: entries of one
// class have the same importance, nearly all were never accessed, and none is newer than the newest
// of its session. So an exponential and a timestamp are worked out only for entries that can still
// be among the best: for 2 % of those that match.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "plan.hpp"
#include "search/impact.hpp"
#include "search/indexed_session.hpp"
#include "search/search.hpp"
#include "search/session_index.hpp"
#include "validity.hpp"

namespace bmad_mem {

/// What bounds are multiplied by, for what rounding may add to the sums they bound.
inline constexpr double kBoundSlack = 1 + 1e-9;

/// Relevance of an entry, from what the index knows of it.
class Relevance {
 public:
  /// `settings` must outlive it. `names_time`: the question says when, so age must not count.
  Relevance(RelevanceCombine combine, RelevanceWeights weights, const SearchSettings& settings,
            bool names_time);

  /// `odd` is null for an entry without kFlagOdd.
  [[nodiscard]] RelevanceComponents components(double text, std::uint32_t flags, Timestamp time,
                                               const OddEntry* odd) const;
  [[nodiscard]] double combine(const RelevanceComponents& parts) const {
    if (combine_ == RelevanceCombine::kFactors) {
      return parts.text * kTimeFactor.at(parts.time) * kImportanceFactor.at(parts.importance) *
             kAccessFactor.at(parts.access);
    }
    return weights_.text * parts.text + weights_.time * parts.time +
           weights_.importance * parts.importance + weights_.access * parts.access;
  }

 private:
  friend class RelevanceBound;
  static constexpr std::size_t kClassCount = 128;

  /// The bits of `flags` that matter here, side by side: type, pinned, severe, approved, odd.
  static constexpr std::size_t class_of(std::uint32_t flags) {
    static_assert(kFlagPinned == 1U << 5U && kFlagSevere == 1U << 7U && kFlagOdd == 1U << 9U);
    return (flags & kFlagTypeMask) | (flags >> 2U & 0x8U) | (flags >> 3U & 0x70U);
  }
  static constexpr std::uint32_t flags_of(std::size_t entry_class) {
    const auto bits = static_cast<std::uint32_t>(entry_class);
    return (bits & kFlagTypeMask) | (bits & 0x8U) << 2U | (bits & 0x70U) << 3U;
  }

  [[nodiscard]] bool newest_counts_most(std::uint32_t flags) const;
  [[nodiscard]] double time_factor(std::uint32_t flags, Timestamp time, const OddEntry* odd) const;
  [[nodiscard]] double access(const OddEntry* odd) const;

  const SearchSettings& settings_;
  RelevanceCombine combine_;
  RelevanceWeights weights_;
  bool ignores_age_;
};

/// What entries of one session can reach.
class RelevanceBound {
 public:
  /// `newest`: when the newest of its entries was written.
  RelevanceBound(const Relevance& relevance, Timestamp newest);

  /// At least the relevance of an entry with these flags, whose text score is at most `text`.
  [[nodiscard]] double most(double text, std::uint32_t flags) const {
    const std::size_t entry_class = Relevance::class_of(flags);
    return text * scale_[entry_class] + beside_[entry_class];
  }
  /// The same by its weight (index/impact.hpp), or a greater one.
  [[nodiscard]] double most_of_weight(double text, std::size_t weight) const {
    assert(weight < kWeightCount);
    return text * weight_scale_[weight] + weight_beside_[weight];
  }
  /// An entry whose text score is less is less relevant than `relevance`, whatever its flags.
  [[nodiscard]] double least_text(double relevance) const {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    return most_scale_ > 0 ? (relevance - most_beside_) / most_scale_ : kNone;
  }

 private:
  double most_scale_ = 0;
  double most_beside_ = 0;
  std::array<double, kWeightCount> weight_scale_{};
  std::array<double, kWeightCount> weight_beside_{};
  std::array<double, Relevance::kClassCount> scale_{};
  std::array<double, Relevance::kClassCount> beside_{};
};

// Whether an entry may be found, and how relevant it is by its text score.

/// Of an entry that states nothing. An asking holds all words of the question that asks it again,
/// its answer often a third of them: with 0.3, ten askings hide the answers of one question in
/// five; from 0.2 on down nothing changes.
inline constexpr double kStatesNothingFactor = 0.2;

/// Threads: any, at the same time.
class EntryJudge {
 public:
  /// All arguments must outlive it.
  EntryJudge(const SearchScope& scope, const SearchResult& rules)
      : scope_(scope),
        relevance_(rules.combine, rules.weights, scope.settings, scope.plan.names_time),
        validity_(scope.sessions, scope.settings) {}

  [[nodiscard]] const Relevance& relevance() const { return relevance_; }

  /// The entry at `slot` of session `index`; nothing when it passes no filter, has expired, or is
  /// less relevant than `least`. Posting lists are not asked, see allowed_slots(). Errors: as
  /// IndexedSession::line(), with the session in Error::field.
  Result<std::optional<Found>> judge(std::size_t index, std::uint32_t slot, const SlotView& slots,
                                     double text, double least);

  /// Gives `found` another text score, and what follows of it.
  void set_text(Found& found, double text) const {
    found.components.text = text;
    found.relevance =
        relevance_.combine(found.components) * (found.states_nothing ? kStatesNothingFactor
                                                : found.outdated     ? kOutdatedFactor
                                                                     : 1);
  }

 private:
  [[nodiscard]] bool passes(const IndexedSession& session, std::uint32_t flags,
                            Timestamp time) const;

  const SearchScope& scope_;
  Relevance relevance_;
  Validity validity_;
};

}  // namespace bmad_mem
