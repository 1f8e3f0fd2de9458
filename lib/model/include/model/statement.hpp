// statement.hpp - what a fact or a preference is about, and which of several statements about the
// same holds.
//
// Statements of one category and key are about the same, whatever session and type they have. The
// newest holds, by time, then by session; those below kLowTrust only where there is no other.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

/// Below it, a statement is by somebody not to be trusted: it never displaces what others stated,
/// however new it is.
inline constexpr double kLowTrust = 0.5;

/// What an entry states, as far as others can contradict it.
struct StatementHead {
  Category category = Category::kProjectFact;
  std::string_view key;  ///< Empty: nothing else is about the same.
  Review review = Review::kNone;
  Timestamp at{};  ///< When it was stated last.
  double trust = 1;

  /// Nobody has accepted it, or somebody dropped it.
  [[nodiscard]] bool is_unreviewed() const {
    return review == Review::kCandidate || review == Review::kDropped;
  }
  /// What tells statements about the same; empty without a key, and for those not accepted.
  [[nodiscard]] std::string subject() const;
};

/// `entry` is a fact or a preference; of any other type, what it says is about nothing.
StatementHead statement_head(EntryType type, JsonValue entry);

/// The category that a name means. Words that are none of ours are told apart by the type:
/// preferences are somebody's, facts are about the project.
Category category_of(EntryType type, std::string_view name);

/// The review that a name means; none for a word that is none of ours.
Review review_of(std::string_view name);

}  // namespace bmad_mem
