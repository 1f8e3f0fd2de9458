// group_choice.hpp - which groups of entries of segments may hold one of the best.
//
//   filters, AND, types --> slots that pass --> groups with one of them, and their bounds
//
// Where an entry must hold terms, or is of a rare type, their lists are intersected, the shortest
// first, and groups without such an entry are left out before anything is scored.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "group_bounds.hpp"
#include "group_queue.hpp"
#include "plan.hpp"
#include "slot_filter.hpp"

namespace bmad_mem {

/// Whether a segment bounds each term of a question in a session.
bool has_impacts(const IndexedSession& session, const SessionTerms& terms);

/// Used once.
class GroupChoice {
 public:
  /// What a search has at hand. All of it outlives the choice.
  struct Input {
    std::span<IndexedSession* const> sessions;
    std::span<const SessionTerms> collected;  ///< By session; so for the next.
    std::span<const SlotTotals> sizes;
    const Plan& plan;
    const Relevance& relevance;
    /// The filters that are posting lists. Called on several threads.
    std::function<Result<AllowedSlots>(IndexedSession& session)> allowed;
  };
  explicit GroupChoice(Input input) : in_(std::move(input)) {}

  /// Of all sessions that has_impacts(). Errors: E_STORAGE_CORRUPT.
  Result<GroupQueue> run(const GroupBounds& bounds);

 private:
  /// Numbers of terms, of each list one.
  using TermLists = std::vector<std::vector<std::size_t>>;

  Status collect_types();
  [[nodiscard]] std::optional<TermLists> required_terms() const;
  [[nodiscard]] std::vector<AnyOf> lists_of(std::size_t index) const;
  [[nodiscard]] std::size_t count_postings(std::size_t index) const;
  Status fill(std::span<const std::size_t> numbers, const GroupBounds& bounds,
              const RelevanceBound& newest, GroupList& out) const;
  Status add_session(std::size_t index, const GroupBounds& bounds, const RelevanceBound& newest,
                     GroupBounds::Scratch& scratch, GroupList& out) const;

  Input in_;
  std::optional<TermLists> required_;                // Nothing where other filters decide, too.
  std::vector<AnyOf> is_of_types_;                   // By session; empty where types don't matter.
  std::vector<std::shared_ptr<const void>> owners_;  // Of what these show.
};

}  // namespace bmad_mem
