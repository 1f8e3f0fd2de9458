#include "lifecycle/entry_matcher.hpp"

#include <algorithm>

#include "model/entry.hpp"

namespace bmad_mem {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::ranges::find(list, item) != list.end();
}

bool has_any_tag(const std::vector<std::string>& tags, JsonValue list) {
  for (const JsonValue tag : list.elements()) {
    if (contains(tags, tag.string())) {
      return true;
    }
  }
  return false;
}

/// Decoded strings: an escaped character hides a text from a search of the bytes.
bool holds_decoded(JsonValue value, std::string_view needle) {
  if (value.string().find(needle) != std::string_view::npos) {
    return true;
  }
  for (const JsonValue element : value.elements()) {
    if (holds_decoded(element, needle)) {
      return true;
    }
  }
  for (const JsonMember& member : value.members()) {
    if (member.key.find(needle) != std::string_view::npos || holds_decoded(member.value, needle)) {
      return true;
    }
  }
  return false;
}

}  // namespace

EntryMatcher::EntryMatcher(const DeletionCriteria& criteria) : criteria_(criteria) {}

bool EntryMatcher::matches(EntryType type, JsonValue entry, std::string_view text) const {
  const EntryHead head = entry_head(type, entry);
  const DeletionCriteria& wanted = criteria_;
  return (wanted.ids.empty() || contains(wanted.ids, head.id)) &&
         (wanted.types.empty() || std::ranges::find(wanted.types, type) != wanted.types.end()) &&
         (wanted.agents.empty() || contains(wanted.agents, head.who)) &&
         (!wanted.since || head.timestamp >= *wanted.since) &&
         (!wanted.until || head.timestamp <= *wanted.until) &&
         (wanted.tags.empty() || has_any_tag(wanted.tags, head.tags)) &&
         (wanted.match.empty() || holds_text(entry, text, wanted.match));
}

bool holds_text(JsonValue value, std::string_view text, std::string_view needle) {
  return text.find(needle) != std::string_view::npos || holds_decoded(value, needle);
}

}  // namespace bmad_mem
