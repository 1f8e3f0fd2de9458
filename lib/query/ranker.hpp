// ranker.hpp - how well each entry of many sessions matches the words of a question.
//
//   text(m) = 1.0 BM25(m)                       k1 0.9  b 0.4
//           + 1.0 BM25(m-2 .. m+2)              k1 1.2  b 0.75   entries around it, same
//           conversation
//           + 1.0 BM25(session of m)            k1 1.2  b 0.75
//           + 0.5 BM25(entry before m)          where that one ends with a question mark
//           + 5   where m is by the one participant whom the question names
//           + 10  dateMatch(m)                  1 inside the span asked about, then falling
//
//   idf = ln(1 + (N - df + 0.5) / (df + 0.5)), with a document frequency of its own for each of the
//   three grains, over all sessions searched.
//
// The sum is divided by the most that these words could reach, so that it lies in [0,1] and does
// not depend on the other hits. A turn of a conversation is found through the turns around it;
// entries that are no conversation stand alone: their window is themselves. All three grains come
// from the postings of single entries.
//
// Two steps, since the frequencies of all sessions go into each score: collect() per session, then
// score() per session; both may run on all sessions at once. Terms and sessions are added up in a
// fixed order, so equal input gives equal bits.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "index/session_index.hpp"
#include "query/date_span.hpp"
#include "speakers.hpp"

namespace bmad_mem {

struct RankOptions {
  double entry_weight = 1;
  double window_weight = 1;
  double session_weight = 1;
  double question_weight = 0.5;
  double speaker_bonus = 5;
  double date_bonus = 10;

  static RankOptions of(TextRanking ranking);
};

/// What is asked for. The terms are analyzed and each is there once.
struct RankQuery {
  std::vector<std::string> terms;
  Speaker speaker;
  std::vector<DateSpan> spans;
};

/// A query's terms in one session.
struct SessionTerms {
  std::vector<SessionIndex::Postings> terms;  ///< As RankQuery::terms; none is null.
  std::vector<std::uint8_t> by_speaker;       ///< By slot; empty when nobody was named.
};

/// By slot, whether an entry is by `speaker`; empty when nobody is named.
Result<std::vector<std::uint8_t>> slots_of_speaker(SessionIndex& session, const Speaker& speaker);

/// What the grains have in common over all sessions.
struct RankTotals {
  struct TermWeights {
    double entry = 0;
    double window = 0;
    double session = 0;
  };
  /// k1 (1 - b) + k1 b length / mean length, for each grain: what BM25 adds to a frequency.
  struct LengthNorm {
    double base = 1;
    double slope = 0;
    [[nodiscard]] double at(double length) const { return base + slope * length; }
  };
  LengthNorm entry;
  LengthNorm window;
  LengthNorm session;
  std::vector<TermWeights> weights;  ///< idf and the grain's own weight, by term.
  double reachable = 1;
};

RankTotals sum_up(const std::vector<SessionIndex*>& sessions,
                  const std::vector<SessionTerms>& collected, const RankQuery& query,
                  const RankOptions& options);

/// The text scores of one session. Its buffers serve one session after the other; only what a
/// session's postings touch is ever looked at or cleared.
class SessionScores {
 public:
  /// All arguments must outlive the use of the scores.
  void compute(const SessionIndex& session, const SessionTerms& terms, const RankTotals& totals,
               const RankQuery& query, const RankOptions& options);

  /// Calls `use(slot)` for each entry that holds a term itself or in its window, ascending.
  template <typename Use>
  void for_each_match(const Use& use) const {
    for (std::size_t word = 0; word < touched_.size(); ++word) {
      for (std::uint64_t bits = touched_[word]; bits != 0; bits &= bits - 1) {
        use(static_cast<std::uint32_t>(word * 64) +
            static_cast<std::uint32_t>(std::countr_zero(bits)));
      }
    }
  }
  /// Whether the entry holds a term itself or in its window.
  [[nodiscard]] bool matches(std::uint32_t slot) const {
    return (touched_[slot / 64] >> (slot % 64) & 1U) != 0;
  }
  /// Whether the entry itself does.
  [[nodiscard]] bool matches_itself(std::uint32_t slot) const { return own_[slot] > 0; }

  /// At least text(), without looking at time and speaker.
  [[nodiscard]] double most(std::uint32_t slot) const {
    return (own_[slot] + window_[slot] + question_part(slot) + most_beside_) * slack_;
  }

  /// Text component of `slot`, in [0,1].
  [[nodiscard]] double text(std::uint32_t slot, Timestamp time) const {
    double sum = own_[slot] + window_[slot] + session_part_;
    sum += question_part(slot);
    sum += speaker_part(slot);
    sum += query_->spans.empty() ? 0 : date_part(time);
    return sum / totals_->reachable;
  }

  [[nodiscard]] TextExplanation explain(std::uint32_t slot, Timestamp time) const;

 private:
  void clear();
  void touch(std::uint32_t begin, std::uint32_t end);
  void add_entries(std::size_t term);
  void add_windows(std::size_t term);
  [[nodiscard]] double question_part(std::uint32_t slot) const {
    const SlotTable& slots = session_->slots();
    return options_->question_weight > 0 && slots.reach[slot].before > 0 &&
                   (slots.flags[slot - 1] & kFlagAsks) != 0
               ? options_->question_weight / options_->entry_weight * own_[slot - 1]
               : 0;
  }
  [[nodiscard]] double speaker_part(std::uint32_t slot) const {
    return !terms_->by_speaker.empty() && terms_->by_speaker[slot] != 0 ? options_->speaker_bonus
                                                                        : 0;
  }
  [[nodiscard]] double date_part(Timestamp time) const;
  [[nodiscard]] double entry_score(std::size_t term, std::uint32_t slot, double frequency) const;
  [[nodiscard]] double window_score(std::size_t term, std::uint32_t slot, double frequency) const;
  [[nodiscard]] double session_score(std::size_t term) const;

  const SessionIndex* session_ = nullptr;
  const SessionTerms* terms_ = nullptr;
  const RankTotals* totals_ = nullptr;
  const RankQuery* query_ = nullptr;
  const RankOptions* options_ = nullptr;
  // By slot, and 0 wherever touched_ has no bit.
  std::vector<double> own_;
  std::vector<double> window_;
  std::vector<std::uint32_t> window_frequencies_;  // Of one term; 0 between terms.
  std::vector<std::uint64_t> touched_;             // A bit a slot.
  double session_part_ = 0;
  double most_beside_ = 0;  // Session, speaker and date at their best.
  double slack_ = 1;        // 1 / reachable, and a little more for what rounding may add.
};

}  // namespace bmad_mem
