// nearest_found.hpp - the entries that are nearest to a question, whatever words they hold.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "bmad_mem/result.hpp"
#include "entry_judge.hpp"
#include "meaning.hpp"
#include "plan.hpp"
#include "ranker.hpp"
#include "session_scores.hpp"
#include "slot_filter.hpp"

namespace bmad_mem {

/// What a search has at hand; all of it outlives NearestFound.
struct NearestInput {
  std::span<IndexedSession* const> sessions;
  std::span<SessionTerms> terms;  ///< By session. Who speaks where is filled in.
  const Plan& plan;
  const RankTotals& totals;
  const RankOptions& options;
  const Meaning& meaning;
  const SearchSettings& settings;
  double near_min;  ///< The least cosine.
  EntryJudge& judge;
};

/// Used once, in one thread.
class NearestFound {
 public:
  explicit NearestFound(const NearestInput& input) : in_(input) {}

  /// Adds to `found` the 64 nearest entries that pass the filters, are near enough, and are not
  /// there yet. Their text component is that of their words, and may be below 0. Errors:
  /// E_QUERY_TIMEOUT; as allowed_slots() and EntryJudge::judge().
  Status add_to(std::vector<Found>& found);

 private:
  /// By session, the entries that pass.
  Result<const AllowedSlots*> prepared(std::size_t index);
  [[nodiscard]] Result<std::optional<Found>> entry_at(const NearEntry& near);

  NearestInput in_;
  std::map<std::size_t, AllowedSlots> allowed_;
  SessionScores scores_;
  SlotRoom room_;
};

}  // namespace bmad_mem
