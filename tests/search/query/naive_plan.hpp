// naive_plan.hpp - a question's clauses as terms, in the simplest form; see naive_search.hpp.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "search/analyzer.hpp"
#include "search/date_span.hpp"
#include "search/query/naive_search.hpp"
#include "search/query/plan.hpp"

namespace bmad_mem::test {

struct NaiveWord {
  std::string text;
  std::size_t offset = 0;
  std::size_t size = 0;
  bool whole = false;
  bool capitalised = false;
};

std::vector<NaiveWord> words_of(Analyzer& analyzer, std::string_view text);

/// What must be in an entry, or must not.
struct NaiveDemand {
  std::vector<std::vector<std::string>> terms;  ///< Of each list any one.
  std::vector<std::string> phrase;
  bool excluded = false;
  bool soft = false;  ///< If there is no such entry, others do.
};

template <typename List, typename Item>
bool holds(const List& list, const Item& item) {
  return std::ranges::find(list, item) != std::ranges::end(list);
}

struct NaiveTerm {
  std::string term;
  double weight = 1;
  bool stands_in = false;  ///< For a word that no entry holds.
  std::string word = {};   ///< As the question has it; empty where it has another one.
};

struct NaivePlan {
  std::vector<NaiveTerm> terms;
  std::vector<NaiveDemand> demands;
  std::vector<NaiveDemand> phrases;  ///< What is found should have around it.
  std::vector<DateSpan> spans;
  std::string speaker;       ///< Whom the question names …
  std::string speaker_role;  ///< … or which role.
  bool has_words = false;
  bool names_time = false;
  bool usable = false;  ///< The question says anything at all.
};

/// `read`: as read_query() gives it, without terms.
NaivePlan make_naive_plan(const std::vector<const NaiveSession*>& sessions, const Plan& read,
                          const SearchSettings& settings, Analyzer& analyzer);

}  // namespace bmad_mem::test
