// plan.hpp - a question's clauses as terms of the index: what to rank by, and what must be there.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "ranker.hpp"
#include "search/analyzer.hpp"
#include "search/indexed_session.hpp"
#include "search/question.hpp"

namespace bmad_mem {

/// What an entry must hold, or must not.
struct Requirement {
  std::vector<std::vector<std::string>> terms;  ///< All of these; of each, any one.
  std::vector<std::string> phrase;  ///< Tokens that must stand side by side; empty for a word.
  bool excluded = false;
  bool soft = false;  ///< If there is no such entry, others do.
};

/// A word that may have a slip in it.
struct DoubtfulWord {
  std::string token;
  std::size_t term = 0;  ///< Its place in RankQuery::terms.
};

struct Plan {
  RankQuery rank;
  std::vector<Requirement> requirements;
  std::vector<Requirement> phrases;  ///< What is found should hold, itself or around it.
  std::vector<DoubtfulWord> doubtful;
  std::set<std::string, std::less<>> marked;  ///< Terms to mark in snippets.
  bool has_expansion = false;                 ///< It has a prefix or a fuzzy word.
  bool names_time = false;                    ///< The question says when: age must not count.
};

/// Plans `question` over `sessions`. `analyzer` is one of `language`; the stop words of another
/// language that the question is written in are dropped as well.
/// Errors: E_STORAGE_CORRUPT, as IndexPart::part_keys().
Result<Plan> make_plan(const Question& question, std::span<IndexedSession* const> sessions,
                       Analyzer& analyzer, std::string_view language, Timestamp now);

/// What a term counts that stands in for a word nobody knows.
inline constexpr double kSlipWeight = 0.5;

/// Puts beside `word` the known terms one slip away from it. A note for people is what it returns;
/// empty when there are none. Errors: as make_plan().
Result<std::string> add_slip_terms(std::span<IndexedSession* const> sessions, Analyzer& analyzer,
                                   const DoubtfulWord& word, Plan& plan);

}  // namespace bmad_mem
