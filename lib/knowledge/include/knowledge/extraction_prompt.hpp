// extraction_prompt.hpp - what a model is asked when it is to find the durable facts of a session.
//
//   instructions        what a fact is, and the form of the answer (extraction_answer.hpp)
//   ```jsonl
//   {"at":"2026-01-11 10:05","who":"user","text":"…"}      the newest that fit, oldest first
//   ```
//
// What was said is data: each entry is one line of JSON, so nothing in it can close the fence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"

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

}  // namespace bmad_mem
