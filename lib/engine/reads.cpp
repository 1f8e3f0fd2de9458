// reads.cpp - get, history and list, by reading the logs. No lock is taken.
#include <algorithm>

#include "bmad_mem/json_parser.hpp"
#include "entry_filter.hpp"
#include "index/entry_table.hpp"
#include "packed_session.hpp"
#include "query/question.hpp"
#include "session_sources.hpp"
#include "store.hpp"

namespace bmad_mem {
namespace {

/// An entry and the session that holds it.
struct Located {
  std::string session_id;
  TableEntry entry;
};

/// Errors: one that is_not_found() when the session has left its folder meanwhile.
Result<std::vector<TableEntry>> load_source(const Store& store, const SessionSource& source,
                                            std::span<const EntryType> types, Versions versions) {
  BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                  load_entries(source.files(store), source.session_id, types, versions));
  if (source.packed == nullptr) {
    BMAD_TRY(check_still_there(store, source.session_id));
  }
  return entries;
}

/// Newest first; equal times by session and id, so that the order never depends on chance.
bool is_newer(const Located& a, const Located& b) {
  if (a.entry.timestamp != b.entry.timestamp) {
    return a.entry.timestamp > b.entry.timestamp;
  }
  if (a.session_id != b.session_id) {
    return a.session_id > b.session_id;
  }
  return a.entry.id > b.entry.id;
}

Result<std::vector<Located>> load_filtered(const Store& store, const EntryFilter& filter) {
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> sessions,
                  session_sources(store, filter.sessions, filter.archived));
  std::vector<Located> found;
  for (const SessionSource& source : sessions) {
    BMAD_TRY_ASSIGN(std::vector<TableEntry> entries,
                    load_source(store, source, filter.types, Versions::kLatest));
    for (TableEntry& entry : entries) {
      if (passes(filter, entry)) {
        found.push_back({.session_id = source.session_id, .entry = std::move(entry)});
      }
    }
  }
  return found;
}

template <typename T>
void cut_to(std::vector<T>& items, std::size_t limit) {
  if (limit != 0 && items.size() > limit) {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(limit), items.end());
  }
}

Result<std::vector<Entry>> load_all(const Store& store, std::span<const std::string> wanted,
                                    std::span<const EntryType> types, Versions versions) {
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> sessions, session_sources(store, wanted, false));
  std::vector<Entry> found;
  JsonParser parser;
  for (const SessionSource& source : sessions) {
    BMAD_TRY_ASSIGN(std::vector<TableEntry> entries, load_source(store, source, types, versions));
    for (TableEntry& entry : entries) {
      found.push_back(to_entry(parser, source.session_id, std::move(entry)));
    }
  }
  return found;
}

}  // namespace

Result<std::vector<Entry>> read_entries(const Store& store, std::span<const std::string> wanted,
                                        std::span<const EntryType> types, bool all_versions) {
  const Versions versions = all_versions ? Versions::kAll : Versions::kLatest;
  return choose_steadily([&] { return load_all(store, wanted, types, versions); });
}

Result<std::vector<Entry>> list_entries(const Store& store, const EntryFilter& filter) {
  BMAD_TRY(check_time_range(filter));
  BMAD_TRY_ASSIGN(std::vector<Located> found,
                  choose_steadily([&] { return load_filtered(store, filter); }));
  std::ranges::sort(found, is_newer);
  cut_to(found, filter.limit);
  std::vector<Entry> entries;
  entries.reserve(found.size());
  JsonParser parser;
  for (Located& located : found) {
    entries.push_back(to_entry(parser, located.session_id, std::move(located.entry)));
  }
  return entries;
}

}  // namespace bmad_mem
