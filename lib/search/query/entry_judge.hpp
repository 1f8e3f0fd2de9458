// entry_judge.hpp - whether an entry may be found, and how relevant it is by its text score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bmad_mem/result.hpp"
#include "plan.hpp"
#include "relevance.hpp"
#include "search/indexed_session.hpp"
#include "search/search.hpp"
#include "validity.hpp"

namespace bmad_mem {

/// Of an entry that states nothing. An asking holds all words of the question that asks it again,
/// its answer often a third of them: with 0.3, ten askings hide the answers of one question in
/// five; from 0.2 on down nothing changes.
inline constexpr double kStatesNothingFactor = 0.2;

/// Threads: any, at the same time.
class EntryJudge {
 public:
  /// All arguments must outlive it.
  EntryJudge(std::span<IndexedSession* const> sessions, const Plan& plan,
             const SearchSettings& settings, const SearchResult& rules)
      : sessions_(sessions),
        plan_(plan),
        settings_(settings),
        relevance_(rules.combine, rules.weights, settings, plan.names_time),
        validity_(sessions, settings) {}

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

  std::span<IndexedSession* const> sessions_;
  const Plan& plan_;
  const SearchSettings& settings_;
  Relevance relevance_;
  Validity validity_;
};

}  // namespace bmad_mem
