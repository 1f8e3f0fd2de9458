// entry_matcher.hpp - which entries a deletion means.
#pragma once

#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/lifecycle.hpp"

namespace bmad_mem {

/// Whether one line answers to the criteria, but for sessions: those are chosen before.
class EntryMatcher {
 public:
  /// `criteria` must outlive the matcher.
  explicit EntryMatcher(const DeletionCriteria& criteria);

  /// Whether `entry`, parsed from `text`, answers to all that is given.
  [[nodiscard]] bool matches(EntryType type, JsonValue entry, std::string_view text) const;

 private:
  const DeletionCriteria& criteria_;
};

/// Whether `needle` stands in a string, a key or a number of `value`, or in `text` as it is
/// written.
bool holds_text(JsonValue value, std::string_view text, std::string_view needle);

}  // namespace bmad_mem
