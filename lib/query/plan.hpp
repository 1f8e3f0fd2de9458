// plan.hpp - a question's clauses as terms of the index: what to rank by, and what must be there.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "index/analyzer.hpp"
#include "index/session_index.hpp"
#include "query/question.hpp"
#include "ranker.hpp"

namespace bmad_mem {

/// What an entry must hold, or must not.
struct Requirement {
  std::vector<std::vector<std::string>> terms;  ///< All of these; of each, any one.
  std::vector<std::string> phrase;  ///< Tokens that must stand side by side; empty for a word.
  bool excluded = false;
};

struct Plan {
  RankQuery rank;
  std::vector<Requirement> requirements;
  std::vector<std::string> correctable;       ///< Words that may be misspelt.
  std::set<std::string, std::less<>> marked;  ///< Terms to mark in snippets.
  bool has_expansion = false;                 ///< It has a prefix or a fuzzy word.
  bool names_time = false;                    ///< The question says when: age must not count.
};

/// Plans `question` over `sessions`. Errors: E_STORAGE_CORRUPT, as SessionIndex::keys().
Result<Plan> make_plan(const Question& question, std::span<SessionIndex* const> sessions,
                       Analyzer& analyzer, Timestamp now);

/// Lets each word of Plan::correctable stand for the terms that are spelt like it, too: for when
/// the sessions hold none of the words. Errors: as make_plan().
Status correct_spelling(std::span<SessionIndex* const> sessions, Analyzer& analyzer, Plan& plan);

}  // namespace bmad_mem
