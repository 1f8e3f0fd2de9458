// session_scores.hpp - the text scores of the entries of one session.
//
//   slot        0      63 64     127 128    191         one bit a slot that holds a term, itself or
//   touched     ..1.1.... .......... 111.11....         in its window
//   own         sums of BM25 of the entry               0 wherever touched has no bit, so that
//   window      sums of BM25 of the window              blocks of 64 slots are done without asking
//
// Postings are added term by term, so that the inner loops run over arrays; then each block, and in
// it each entry, is held against the least relevance that still counts, and what can't reach it is
// passed over.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "ranker.hpp"
#include "relevance.hpp"
#include "search/indexed_session.hpp"

namespace bmad_mem {

/// Slots from `begin` to before `end`.
struct SlotRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Its buffers serve one session after the other; only what a session's postings touch is ever
/// looked at or cleared. Threads: one object a thread.
class SessionScores {
 public:
  /// `session` is loaded. All arguments must outlive the use of the scores.
  void compute(const IndexedSession& session, const SessionTerms& terms, const RankTotals& totals,
               const RankQuery& query, const RankOptions& options);
  /// The same, of `range` alone: of other slots nothing may be asked. What around() says is loaded.
  void compute(const SlotView& slots, const SessionTerms& terms, const RankTotals& totals,
               const RankQuery& query, const RankOptions& options, SlotRange range);
  /// What compute() was given.
  [[nodiscard]] const SlotView& slots() const { return slots_; }
  /// The slots that the scores of `range` depend on, of a session with `count`.
  static SlotRange around(SlotRange range, std::uint32_t count) {
    constexpr std::uint32_t kReach = 2 * kWindowReach;  // Of windows of entries in windows.
    return {.begin = range.begin - std::min(range.begin, kReach),
            .end = std::min(count, range.end + kReach)};
  }

  /// Calls `use(slot)` for each entry that holds a term itself or in its window, but for those that
  /// `bound` tells to be less relevant than `least()`, which may grow. The most promising come
  /// first, roughly, so that it grows soon: a tenth of the entries are used that are in the order
  /// of slots.
  template <typename Least, typename Use>
  void for_each_match(const RelevanceBound& bound, const Least& least, const Use& use);

  /// Whether the entry holds a term itself or in its window.
  [[nodiscard]] bool matches(std::uint32_t slot) const {
    assert(slot / kBlock < touched_.size());
    return (touched_[slot / kBlock] >> (slot % kBlock) & 1U) != 0;
  }
  /// Whether the entry itself does.
  [[nodiscard]] bool matches_itself(std::uint32_t slot) const { return own_[kPad + slot] > 0; }

  /// Text component of `slot`; a full answer has 1. `time` is asked for only where the question
  /// names a time.
  [[nodiscard]] double text(std::uint32_t slot, Timestamp time) const {
    return std::max(sum(slot, time), 0.0) / totals_->full;
  }
  /// The same before it is divided, and below 0 where what it asks takes more than it has.
  [[nodiscard]] double sum(std::uint32_t slot, Timestamp time) const {
    double sum = own_[kPad + slot] + window_[slot] + session_part_;
    sum += question_part(slot);
    sum += speaker_part(slot);
    sum += query_->spans.empty() ? 0 : date_part(time);
    return sum + asks_part(slot);
  }

  [[nodiscard]] TextExplanation explain(std::uint32_t slot, Timestamp time) const;

 private:
  static constexpr std::size_t kBlock = 64;
  static constexpr std::size_t kPad = 1;  // Even the first slot has something in front of it.

  /// At least text(), without looking at time and speaker, and at who asks.
  [[nodiscard]] double most(std::uint32_t slot) const {
    const double sum = own_[kPad + slot] + window_[slot] + question_factor_ * own_[slot];
    return sum * slack_ + most_beside_;
  }
  struct Block {
    double most = 0;  ///< Of most() of its slots.
    std::uint32_t index = 0;
  };
  [[nodiscard]] double most_in_block(std::size_t block) const;
  const std::vector<Block>& best_blocks(double least_text);
  void clear();
  void touch(std::uint32_t begin, std::uint32_t end);
  void add_entries(std::size_t term);
  void add_windows(std::size_t term);
  void count_in_windows(std::span<const SlotPosting> postings);
  void score_windows(const GrainScore& score, SlotColumn<std::uint32_t> lengths,
                     std::uint32_t begin, std::uint32_t end);
  static bool is_lone_flag(std::uint32_t flags) {
    return flag_type(flags) != EntryType::kConversation;
  }
  [[nodiscard]] bool is_lone(std::uint32_t slot) const { return is_lone_flag(slots_.flags[slot]); }
  [[nodiscard]] double question_part(std::uint32_t slot) const {
    return question_factor_ > 0 && slots_.reach[slot].before > 0 &&
                   (slots_.flags[slot - 1] & kFlagAsks) != 0
               ? question_factor_ * own_[kPad + slot - 1]
               : 0;
  }
  [[nodiscard]] double asks_part(std::uint32_t slot) const {
    constexpr std::uint32_t kQuestionSizeMax = 30;  // A longer one tells more than it asks.
    return (slots_.flags[slot] & kFlagAsks) != 0 && slots_.lengths[slot] <= kQuestionSizeMax
               ? -options_->asks_malus
               : 0;
  }
  [[nodiscard]] double speaker_part(std::uint32_t slot) const {
    return !terms_->by_speaker.empty() && terms_->by_speaker[slot] != 0 ? options_->speaker_bonus
                                                                        : 0;
  }
  [[nodiscard]] double date_part(Timestamp time) const;
  [[nodiscard]] double session_score(std::size_t term) const;

  SlotView slots_;
  const SessionTerms* terms_ = nullptr;
  std::vector<std::span<const SlotPosting>> postings_;  // Of each term, as far as they are wanted.
  const RankTotals* totals_ = nullptr;
  const RankQuery* query_ = nullptr;
  const RankOptions* options_ = nullptr;
  // Whole blocks. own_ begins with kPad values that are always 0.
  std::vector<double> own_;
  std::vector<double> window_;
  std::vector<std::uint32_t> window_frequencies_;  // Of one term; 0 between terms.
  std::vector<std::uint64_t> touched_;             // A bit a slot.
  std::size_t first_block_ = 0;                    // What may be touched; so for the next.
  std::size_t end_block_ = 0;
  std::vector<Block> blocks_;
  double session_part_ = 0;
  double question_factor_ = 0;
  double most_beside_ = 0;  // Text of session, speaker and date at their best.
  double slack_ = 1;        // kBoundSlack / full
};

template <typename Least, typename Use>
void SessionScores::for_each_match(const RelevanceBound& bound, const Least& least,
                                   const Use& use) {
  const SlotColumn<std::uint32_t> flags = slots_.flags;
  for (const Block& block : best_blocks(bound.least_text(least()))) {
    if (block.most < bound.least_text(least())) {
      return;
    }
    for (std::uint64_t bits = touched_[block.index]; bits != 0; bits &= bits - 1) {
      const std::uint32_t slot = block.index * static_cast<std::uint32_t>(kBlock) +
                                 static_cast<std::uint32_t>(std::countr_zero(bits));
      if (bound.most(most(slot), flags[slot]) >= least()) {
        use(slot);
      }
    }
  }
}

}  // namespace bmad_mem
