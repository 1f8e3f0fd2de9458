// term_expansion.hpp - words that stand for several terms: conn*, serch~, and words with a slip.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "search/analyzer.hpp"
#include "search/indexed_session.hpp"

namespace bmad_mem {

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
