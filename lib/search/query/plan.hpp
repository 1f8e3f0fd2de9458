// plan.hpp - a question's clauses as terms of the index: what to rank by, what must be there,
// and which words stand for several terms or only ask.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "ranker.hpp"
#include "search/analyzer.hpp"
#include "search/indexed_session.hpp"
#include "search/query_parser.hpp"

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

// Words of a question that only ask: "how many", "what kind of", "tell me".

/// What such a word weighs in the ranking, where others weigh 1: it may be meant.
inline constexpr double kAskingWeight = 0.3;

/// Whether word `index` of a question only asks. The words are in lower case, stop words among
/// them, in the order of the text.
bool only_asks(std::span<const std::string> words, std::size_t index);

// Words that stand for several terms: conn*, serch~, and words with a slip.

/// Most terms that one word may stand for; of more, those in the most entries.
inline constexpr std::size_t kExpansionsMax = 32;

/// The terms that start with `prefix`, in lower case; sorted.
/// Errors here and below: E_STORAGE_CORRUPT, as IndexPart::part_keys().
Result<std::vector<std::string>> terms_with_prefix(std::span<IndexedSession* const> sessions,
                                                   std::string_view prefix);

/// The terms that differ from `word`, or from its stem, by few letters but not by the first one:
/// that one is seldom mistyped, and without it all terms would have to be looked at. Sorted.
Result<std::vector<std::string>> terms_like(std::span<IndexedSession* const> sessions,
                                            Analyzer& analyzer, std::string_view word);

/// Most known terms that a word nobody knows may stand for.
inline constexpr std::size_t kSlipTermsMax = 3;

/// The terms of words that differ from `word` by one letter put in, left out, replaced or swapped,
/// but not by the first one; at most kSlipTermsMax, those in the most entries first. What the
/// dictionary holds are stems, so all that a slip in `word` can have made of another word is
/// stemmed and looked for: 400 words, 0.1 ms.
Result<std::vector<std::string>> terms_one_slip_from(std::span<IndexedSession* const> sessions,
                                                     Analyzer& analyzer, std::string_view word);

/// The stems of all words one letter from `word`, which is ASCII and in lower case; but not by the
/// first letter. Sorted, each once; empty for other words.
std::vector<std::string> stems_one_slip_from(Analyzer& analyzer, std::string_view word);

}  // namespace bmad_mem
