// ranker.hpp - how well each entry of many sessions matches the words of a question.
//
//   text(m) = 1.0 BM25(m)                  k1 1.2  b 0.9; no conversation: b 0.6
//           + 1.0 BM25(m-2 .. m+2)         k1 1.2  b 0.75   entries around it, same conversation
//           + 1.0 BM25(session of m)       k1 1.2  b 0.75
//           + 0.5 BM25(entry before m)          where that one ends with a question mark
//           - 4   where m is a question itself, of 30 words at most
//           + 5   where m is by the one participant whom the question names
//           + 10  dateMatch(m)                  1 inside the span asked about, then falling
//
//   idf = ln(1 + (N - df + 0.5) / (df + 0.5)), with a document frequency of its own for each of the
//   three grains, over all sessions searched; times the weight of the term.
//
// The sum is divided by what an entry of mean length has that holds each word of the question once,
// itself, in its window and in its session, and is by whom and of the time that the question names:
// 1 is a full answer, and a second mention goes beyond. A turn of a conversation is found through
// the turns around it; entries that are no conversation stand alone: their window is themselves.
// All three grains come from the postings of single entries.
//
// Two steps, since the frequencies of all sessions go into each score: sum_up() over what was
// collected from all of them, then the scores of each (session_scores.hpp). Terms and sessions are
// added up in a fixed order, so equal input gives equal bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bmad_mem/query.hpp"
#include "bmad_mem/result.hpp"
#include "search/date_span.hpp"
#include "search/indexed_session.hpp"

namespace bmad_mem {

struct RankOptions {
  double entry_weight = 1;
  double window_weight = 1;
  double session_weight = 1;
  double question_weight = 0.5;
  double asks_malus = 4;
  double speaker_bonus = 5;
  double date_bonus = 10;

  static RankOptions of(TextRanking ranking);
};

/// A term of a question.
struct RankTerm {
  std::string term;  ///< Analyzed.
  /// As the question has it, in lower case; empty where it has another one.
  std::string word = {};
  double weight = 1;
  bool stands_in = false;      ///< For a word that nobody knows; a full answer need not hold it.
  bool of_date = false;        ///< It is in a date, which says more; see RankQuery::spans.
  bool of_identifier = false;  ///< It is an identifier or a part of one, as in user_id.
};

/// Whom a question is about: at most one of the two is set.
struct Speaker {
  std::string who;                    ///< Entry::who.
  EntryRole role = EntryRole::kNone;  ///< Of a conversation.

  [[nodiscard]] bool is_named() const { return !who.empty() || role != EntryRole::kNone; }
};

/// What is asked for. Each term is there once.
struct RankQuery {
  std::vector<RankTerm> terms;
  Speaker speaker;
  std::vector<DateSpan> spans;
};

/// A query's terms in one session.
struct SessionTerms {
  std::vector<SessionPostings> terms;    ///< As RankQuery::terms; empty when it holds none of them.
  std::vector<std::uint8_t> by_speaker;  ///< By slot; empty when nobody was named.
};

/// By slot, whether an entry is by `speaker`; empty when nobody is named. `session` is loaded.
Result<std::vector<std::uint8_t>> slots_of_speaker(IndexedSession& session, const Speaker& speaker);

/// BM25 (Robertson and Zaragoza 2009) of one term in one grain, idf and the grain's weight
/// included.
struct GrainScore {
  double weight = 0;
  double k1_and_1 = 1;  ///< k1 + 1: what it comes near to for ever higher frequencies.
  double base = 1;      ///< k1 (1 - b)
  double slope = 0;     ///< k1 b / mean length

  [[nodiscard]] double at(double frequency, double length) const {
    return weight * (frequency * k1_and_1 / (frequency + (base + slope * length)));
  }
  /// For ever higher frequencies.
  [[nodiscard]] double most() const { return weight * k1_and_1; }
};

/// What one term counts in each grain.
struct TermScores {
  GrainScore entry;
  GrainScore window;
  GrainScore lone_entry;  ///< Of entries that are no conversation; so for the next one.
  GrainScore lone_window;
  GrainScore session;
};

/// What all sessions have in common.
struct RankTotals {
  std::vector<TermScores> terms = {};  ///< As RankQuery::terms.
  double full = 1;                     ///< The sum that counts as 1.
};

/// `sizes` and `collected`: by session.
RankTotals sum_up(const std::vector<SlotTotals>& sizes, const std::vector<SessionTerms>& collected,
                  const RankQuery& query, const RankOptions& options);

}  // namespace bmad_mem
