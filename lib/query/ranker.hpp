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

/// One live entry that holds a term.
struct SlotPosting {
  std::uint32_t slot = 0;
  std::uint32_t frequency = 1;
};

/// A query's terms in one session.
struct SessionTerms {
  struct Term {
    std::vector<SlotPosting> postings;  ///< Ascending by slot.
    std::uint64_t window_count = 0;     ///< Entries with the term in their window.
    std::uint64_t session_frequency = 0;
  };
  std::vector<Term> terms;               ///< As RankQuery::terms.
  std::vector<std::uint8_t> by_speaker;  ///< By slot; empty when nobody was named.
};

/// The postings of `term` in `session`, which is load()ed and locked.
Result<SessionTerms::Term> collect_term(SessionIndex& session, const std::string& term,
                                        const RankOptions& options);

/// By slot, whether an entry is by `speaker`; empty when nobody is named.
Result<std::vector<std::uint8_t>> slots_of_speaker(SessionIndex& session, const Speaker& speaker);

/// What the grains have in common over all sessions.
struct RankTotals {
  struct TermWeights {
    double entry = 0;
    double window = 0;
    double session = 0;
  };
  double mean_length = 1;
  double mean_window = 1;
  double mean_session = 1;
  std::vector<TermWeights> weights;  ///< idf and the grain's own weight, by term.
  double reachable = 1;
};

RankTotals sum_up(const std::vector<SessionIndex*>& sessions,
                  const std::vector<SessionTerms>& collected, const RankQuery& query,
                  const RankOptions& options);

/// The text scores of one session. Its buffers serve one session after the other.
class SessionScores {
 public:
  /// `terms` must outlive the use of the scores.
  void compute(const SessionIndex& session, const SessionTerms& terms, const RankTotals& totals,
               const RankQuery& query, const RankOptions& options);

  /// Whether the entry in `slot` or its window holds a term.
  [[nodiscard]] bool matches(std::uint32_t slot) const {
    return window_[slot] > 0 || own_[slot] > 0;
  }
  /// Whether the entry itself does.
  [[nodiscard]] bool matches_itself(std::uint32_t slot) const { return own_[slot] > 0; }
  /// Text component of `slot`, in [0,1].
  [[nodiscard]] double text(std::uint32_t slot, Timestamp time) const;

  [[nodiscard]] TextExplanation explain(std::uint32_t slot, Timestamp time) const;

 private:
  void add_term(std::size_t index);
  [[nodiscard]] double question_part(std::uint32_t slot) const;
  [[nodiscard]] double speaker_part(std::uint32_t slot) const;
  [[nodiscard]] double date_part(Timestamp time) const;
  [[nodiscard]] double entry_score(std::size_t term, std::uint32_t slot, double frequency) const;
  [[nodiscard]] double window_score(std::size_t term, std::uint32_t slot, double frequency) const;
  [[nodiscard]] double session_score(std::size_t term) const;

  const SessionIndex* session_ = nullptr;
  const SessionTerms* terms_ = nullptr;
  const RankTotals* totals_ = nullptr;
  const RankQuery* query_ = nullptr;
  const RankOptions* options_ = nullptr;
  std::vector<double> own_;                        // By slot.
  std::vector<double> window_;                     // By slot.
  std::vector<std::uint32_t> window_frequencies_;  // Of one term; 0 between terms.
  double session_part_ = 0;
};

}  // namespace bmad_mem
