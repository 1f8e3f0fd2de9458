// term_postings.hpp - the postings of a question's terms, in all sessions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bmad_mem/result.hpp"
#include "plan.hpp"
#include "ranker.hpp"
#include "search/analyzer.hpp"
#include "search/search.hpp"

namespace bmad_mem {

/// Threads: one.
class TermPostings {
 public:
  /// All arguments must outlive it.
  TermPostings(std::span<IndexedSession* const> sessions, Plan& plan,
               const SearchSettings& settings)
      : sessions_(sessions), plan_(plan), settings_(settings), by_session_(sessions.size()) {}

  /// The postings of the terms that came since the last call. Errors: E_QUERY_TIMEOUT; as
  /// IndexPart::part_postings().
  Status collect();
  /// Puts known terms beside words that nobody knows, with a note for each; in long prose there are
  /// enough words that somebody knows. Errors: as collect().
  Status add_slips(Analyzer& analyzer, std::vector<std::string>& notes);
  /// Leaves out the most frequent terms of long prose.
  void keep_rarest();

  [[nodiscard]] std::vector<SessionTerms>& by_session() { return by_session_; }
  /// Whether any entry holds any term.
  [[nodiscard]] bool any() const;

 private:
  [[nodiscard]] std::uint64_t count_holders(std::size_t term) const;

  std::span<IndexedSession* const> sessions_;
  Plan& plan_;
  const SearchSettings& settings_;
  std::vector<SessionTerms> by_session_;
  std::size_t collected_ = 0;                        // Of the plan's terms.
  std::vector<std::shared_ptr<const void>> owners_;  // Of what was collected.
};

}  // namespace bmad_mem
