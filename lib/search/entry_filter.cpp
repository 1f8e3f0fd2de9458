#include "entry_filter.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "search/field_filter.hpp"

namespace bmad_mem {
namespace {

bool passes_fields_of_line(const EntryFilter& filter, const TableEntry& entry) {
  if (filter.fields.empty()) {
    return true;
  }
  thread_local JsonParser parser;
  const Result<JsonValue> value = parser.parse(entry.text);
  return value && passes_fields(filter.fields, entry.type, *value);
}

}  // namespace

bool passes(const EntryFilter& filter, const TableEntry& entry) {
  if (!filter.tags.empty() && std::ranges::none_of(entry.tags, [&](const std::string& tag) {
        return is_among(filter.tags, tag);
      })) {
    return false;
  }
  return (filter.agents.empty() || is_among(filter.agents, entry.who)) &&
         (!filter.since || entry.timestamp >= *filter.since) &&
         (!filter.until || entry.timestamp <= *filter.until) &&
         (!filter.pinned_only || entry.pinned) && (!filter.without_sensitive || !entry.sensitive) &&
         passes_fields_of_line(filter, entry);
}

Entry to_entry(JsonParser& parser, const std::string& session_id, TableEntry entry) {
  const Result<JsonValue> value = parser.parse(entry.text);
  return Entry{.session_id = session_id,
               .type = entry.type,
               .id = std::move(entry.id),
               .timestamp = entry.timestamp,
               .who = std::move(entry.who),
               .headline = value ? entry_headline(entry.type, *value) : std::string(),
               .json = std::move(entry.text),
               .line = entry.line,
               .versions = entry.versions,
               .pinned = entry.pinned,
               .sensitive = entry.sensitive,
               .archived = entry.archived,
               .evicted = entry.evicted};
}

}  // namespace bmad_mem
