// field_filter.cpp - the keys of fields, and the same filters for an entry that was read.
#include "search/field_filter.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/hash.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "model/field.hpp"

namespace bmad_mem {

std::string field_key(std::string_view name, std::string_view value) {
  constexpr std::size_t kPlainSizeMax = 64;
  constexpr std::size_t kHashDigits = 10;  // 60 bits: no two values of a session meet by chance.
  std::string key(name);
  const std::string lower = lower_case(value);
  if (lower.size() <= kPlainSizeMax) {
    key += '=';
    key += lower;
  } else {
    key += '#';
    append_digits(xxh3(lower), kHashDigits, key);
  }
  return key;
}

bool passes_fields(std::span<const FieldFilter> filters, EntryType type, JsonValue entry) {
  if (filters.empty()) {
    return true;
  }
  std::set<std::string, std::less<>> held;
  entry_filter_values(type, entry, [&](std::string_view name, std::string_view value) {
    held.insert(field_key(name, value));
  });
  const auto holds = [&](const FieldFilter& filter) {
    return held.contains(field_key(filter.field, filter.value));
  };
  return std::ranges::all_of(filters, [&](const FieldFilter& filter) {
    if (filter.excluded) {
      return !holds(filter);
    }
    return std::ranges::any_of(filters, [&](const FieldFilter& other) {
      return !other.excluded && other.field == filter.field && holds(other);
    });
  });
}

namespace {

bool passes_line(const EntryFilter& filter, std::string_view session_id, const TableEntry& entry) {
  if (filter.fields.empty() && !filter.workspace) {
    return true;
  }
  thread_local JsonParser parser;
  const Result<JsonValue> value = parser.parse(entry.text);
  return value && passes_fields(filter.fields, entry.type, *value) &&
         passes_workspace(filter, session_id, *value);
}

}  // namespace

bool passes_workspace(const EntryFilter& filter, std::string_view session_id, JsonValue entry) {
  if (!filter.workspace) {
    return true;
  }
  const WorkspaceFilter& wanted = *filter.workspace;
  const std::string_view folder = entry_workspace(entry);
  if (folder.empty()) {
    return is_among(wanted.sessions, session_id);
  }
  return folder == wanted.path || folder == wanted.name ||
         (wanted.any_path && folder.substr(folder.rfind('/') + 1) == wanted.name);
}

bool passes(const EntryFilter& filter, std::string_view session_id, const TableEntry& entry) {
  if (!filter.tags.empty() && std::ranges::none_of(entry.tags, [&](const std::string& tag) {
        return is_among(filter.tags, tag);
      })) {
    return false;
  }
  return (filter.agents.empty() || is_among(filter.agents, entry.who)) &&
         (!filter.since || entry.timestamp >= *filter.since) &&
         (!filter.until || entry.timestamp <= *filter.until) &&
         (!filter.pinned_only || entry.pinned) && (!filter.without_sensitive || !entry.sensitive) &&
         passes_line(filter, session_id, entry);
}

Entry to_entry(const std::string& session_id, EntryType type, JsonValue value) {
  const EntryHead head = entry_head(type, value);
  return Entry{.session_id = session_id,
               .type = type,
               .id = std::string(head.id),
               .timestamp = head.timestamp,
               .who = std::string(head.who),
               .headline = entry_headline(type, value),
               .pinned = head.pinned,
               .sensitive = head.sensitive,
               .expires_at = head.expires_at};
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
               .evicted = entry.evicted,
               .expires_at = entry.expires_at};
}

}  // namespace bmad_mem
