// nearness.hpp - whether what was found is about what was asked, or only the least far away.
//
//   coverage   of the idf mass of the question's words, those that no entry holds included at the
//              largest idf, the share that the entry and its neighbours hold
//   words      how many of the question's words the entry itself holds, work words apart
//   score      4.5 coverage + 3 ln(1 + words) - 0.4 max(0, ln(entries / 400))
//
// Relevance can't tell this: it divides by what the words that are known can reach, so that one
// worthless word is a full answer. See docs/decisions/0063-nearness.md for where the constants come
// from.
#pragma once

#include <span>
#include <vector>

#include "plan.hpp"
#include "ranker.hpp"
#include "search/search.hpp"

namespace bmad_mem {

class NearnessMeasure {
 public:
  /// Takes what all words of the question weigh, before any is left out, and tells it in `asked`.
  /// `collected`: by session.
  NearnessMeasure(const Plan& plan, const std::vector<SessionTerms>& collected,
                  const std::vector<SlotTotals>& sizes, std::vector<AskedWord>& asked);

  /// Fills in Found::nearness. `plan` and `collected` may have fewer terms by now, or stand-ins
  /// more. Errors: as IndexedSession::load_slots().
  Status measure(std::span<IndexedSession* const> sessions, const Plan& plan,
                 const std::vector<SessionTerms>& collected, std::span<Found> found) const;

 private:
  double entries_ = 0;
  double mass_ = 0;
};

}  // namespace bmad_mem
