// extraction_answer.hpp - checking what a model answers to an extraction prompt, before any of it
// is believed.
//
//   [{"text": "Seats are held for two minutes", "tags": ["booking"]}, …]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

// The contract, which the prompt states with these numbers.
inline constexpr std::size_t kExtractedFactsMax = 10;
inline constexpr std::size_t kExtractedWordsMax = 40;
inline constexpr std::size_t kExtractedTagsMax = 8;
inline constexpr std::size_t kExtractedTagSizeMax = 40;         ///< Bytes.
inline constexpr std::size_t kExtractionAnswerSizeMax = 65536;  ///< Bytes; ten facts have 5,000.

struct ExtractedFact {
  std::string text;  ///< Not empty, one line, without what can't be seen.
  std::vector<std::string> tags;
};

/// The facts in `answer`: one JSON array, in a ```json fence or not, and nothing else. May be
/// empty. Errors: E_INVALID_FORMAT with line and column in `answer`, the field ("[2].tags[0]") and
/// what to do, for anything that breaks the contract; no part of such an answer is taken.
Result<std::vector<ExtractedFact>> parse_extraction_answer(std::string_view answer);

}  // namespace bmad_mem
