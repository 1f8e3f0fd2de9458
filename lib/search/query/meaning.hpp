// meaning.hpp - how near entries are to a question, whatever words they use.
//
//   question  --as a statement--> its vector --> the cosine of every entry that has a vector
//   entry     sum of words + k (1 + g) (12 cosine + 11 mean of the session's three best cosines),
//             both less their mean over all that is searched: what all have in common tells
//             nothing, and would leave the differences to age and importance. A session below the
//             mean counts 0.3 of that: it may hold a single good answer
//   g         1 - the best share of the weight of the question's words that one entry holds
//   k         the share in that weight of words that mean something to the encoder: no identifiers,
//             and seldom names
//
// A vector that is missing counts as much as those of the best by words do on average, so that what
// is not encoded yet neither gains nor loses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/result.hpp"
#include "encoder/packed_vectors.hpp"
#include "encoder/text_encoder.hpp"
#include "plan.hpp"
#include "ranker.hpp"
#include "relevance.hpp"
#include "search/indexed_session.hpp"
#include "search/search.hpp"
#include "search/segment_vectors.hpp"
#include "session_scores.hpp"
#include "slot_filter.hpp"

namespace bmad_mem {

inline constexpr double kMeaningWeight = 12;
inline constexpr double kSessionMeaningWeight = 11;

/// An entry by its cosine.
struct NearEntry {
  std::int16_t cosine = 0;  ///< By kCosineScale.
  std::uint32_t session = 0;
  std::uint32_t slot = 0;
};

/// Where the vectors of some sessions are; by session.
struct AskedVectors {
  std::vector<VectorRange> ranges;
  std::vector<std::shared_ptr<SegmentVectors>> vectors;  ///< Null: none.
  bool has_any = false;

  /// Errors: as IndexedSession::vectors().
  static Result<AskedVectors> of(std::span<IndexedSession* const> sessions);
};

/// Threads: one.
class Meaning {
 public:
  /// Encodes `statement` and compares it with all that is asked. Nothing, and in `use` why, where
  /// there is no encoder, or it can't be used, or has no vectors. EncoderUse::entries is left.
  static std::optional<Meaning> of(const AskedVectors& asked, const std::string& statement,
                                   const SearchSettings& settings, EncoderUse& use);

  /// Whether a word means something to the encoder.
  [[nodiscard]] bool knows(std::string_view word) const { return encoder_->knows(word); }
  /// Of an entry, -1 to 1; nothing when it has no vector.
  [[nodiscard]] std::optional<double> cosine(std::size_t session, std::uint32_t slot) const;
  /// The mean of the three best of a session; nothing when it has none.
  [[nodiscard]] std::optional<double> session_cosine(std::size_t session) const {
    return sessions_[session].best;
  }
  /// The means of both, over all entries and over all sessions that have one.
  [[nodiscard]] double mean_cosine() const { return mean_cosine_; }
  [[nodiscard]] double mean_session_cosine() const { return mean_session_cosine_; }
  /// The `count` nearest with a cosine of at least `near_min`, the nearest first.
  [[nodiscard]] std::vector<NearEntry> nearest(std::size_t count, double near_min) const;

 private:
  struct OfSession {
    std::vector<std::int16_t> cosines;  // By slot.
    std::optional<double> best;         // The mean of the three best.
    std::int16_t most = kNoVector;
    std::int64_t sum = 0;
    std::uint64_t count = 0;    // Of cosines.
    std::uint64_t encoded = 0;  // Those that have nothing in them, too.

    void take(const VectorRange& range, std::vector<std::int16_t> its);
  };
  Meaning(std::shared_ptr<TextEncoder> encoder, std::size_t session_count)
      : encoder_(std::move(encoder)), sessions_(session_count) {}
  void take_means();
  /// Calls `use` for the entries with a cosine of at least `least`, in the order of slots.
  template <typename Use>
  void for_near(std::int16_t least, const Use& use) const;

  std::shared_ptr<TextEncoder> encoder_;
  std::vector<OfSession> sessions_;
  double mean_cosine_ = 0;
  double mean_session_cosine_ = 0;
};

/// What meaning adds to the words, in the scale of RankTotals::full.
class MeaningScore {
 public:
  /// `by_words`: what the words found, the best first; `slot_of` gives the slot of one.
  MeaningScore(const Meaning& meaning, const SearchScope& scope, const RankTotals& totals,
               std::span<const Found> by_words,
               const std::function<std::uint32_t(const Found&)>& slot_of);

  /// Of the entry itself.
  [[nodiscard]] double own(std::size_t session, std::uint32_t slot) const {
    return weight_ * (meaning_.cosine(session, slot).value_or(usual_) - meaning_.mean_cosine());
  }
  /// Of its session.
  [[nodiscard]] double session(std::size_t session) const {
    constexpr double kBelowMean = 0.3;
    const double above =
        meaning_.session_cosine(session).value_or(usual_session_) - meaning_.mean_session_cosine();
    return session_weight_ * (above < 0 ? kBelowMean * above : above);
  }
  /// Of the weight of the question's words, that of those which mean something to the encoder.
  [[nodiscard]] double known() const { return known_; }
  /// What a full answer has of both.
  [[nodiscard]] double full() const { return kFullAbove * (weight_ + session_weight_); }

 private:
  static constexpr double kFullAbove = 0.1;  // The mean.

  const Meaning& meaning_;
  double known_;
  double weight_ = 0;
  double session_weight_ = 0;
  double usual_ = 0;  // Of what has no vector; so for the next.
  double usual_session_ = 0;
};

/// Whether a word of a question, in lower case, only makes it one: "what", "did". A statement goes
/// without it.
bool only_makes_a_question(std::string_view word);

// The entries that are nearest to a question, whatever words they hold.

/// Used once, in one thread.
class NearestFound {
 public:
  /// All arguments must outlive it. `near_min`: the least cosine. Who speaks where is filled in.
  NearestFound(SearchScope& scope, const RankTotals& totals, const Meaning& meaning,
               double near_min, EntryJudge& judge)
      : scope_(scope), totals_(totals), meaning_(meaning), near_min_(near_min), judge_(judge) {}

  /// Adds to `found` the 64 nearest entries that pass the filters, are near enough, and are not
  /// there yet. Their text component is that of their words, and may be below 0. Errors:
  /// E_QUERY_TIMEOUT; as allowed_slots() and EntryJudge::judge().
  Status add_to(std::vector<Found>& found);

 private:
  /// By session, the entries that pass.
  Result<const AllowedSlots*> prepared(std::size_t index);
  [[nodiscard]] Result<std::optional<Found>> entry_at(const NearEntry& near);

  SearchScope& scope_;
  const RankTotals& totals_;
  const Meaning& meaning_;
  double near_min_;
  EntryJudge& judge_;
  std::map<std::size_t, AllowedSlots> allowed_;
  SessionScores scores_;
  SlotRoom room_;
};

}  // namespace bmad_mem
