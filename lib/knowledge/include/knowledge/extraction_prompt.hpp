// extraction_prompt.hpp - what a model is asked when it is to find the durable facts of a session.
//
//   instructions        what a fact is, and the form of the answer
//   ```jsonl
//   {"at":"2026-01-11 10:05","who":"user","text":"…"}      the newest that fit, oldest first
//   ```
//
// What was said is data: each entry is one line of JSON, so nothing in it can close the fence.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// The specification's, as estimate_tokens() counts.
inline constexpr std::size_t kExtractionTokensMax = 2000;

/// Gathers the entries of one session.
class ExtractionLog {
 public:
  /// `line` is an entry and `entry` what it was parsed from; a newer version of an entry takes the
  /// place of the older one. Only messages, decisions, findings and events count, and no sensitive
  /// ones.
  void add(EntryType type, JsonValue entry, std::string_view line);

  /// Whether there is nothing to extract facts from.
  [[nodiscard]] bool empty() const;

  /// At most kExtractionTokensMax tokens. The same for the same entries.
  [[nodiscard]] std::string prompt() const;

 private:
  struct Logged {
    EntryType type = EntryType::kConversation;
    Timestamp at{};
    std::string line;  // Empty when it doesn't count.
  };
  std::vector<Logged> entries_;
  std::unordered_map<std::string, std::size_t> places_;  // In entries_, by type and id.
};

// Checking what a model answers to an extraction prompt, before any of it
// is believed.
//
//   [{"text": "Seats are held for two minutes", "tags": ["booking"]}, …]

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
